import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { afterAll, describe, expect, it } from 'vitest';
import { type QueryResult, type QueryValue, runQuery } from '../../src/store/queries/user-query.ts';
import { formatTable } from '../../src/terminal/table.ts';
import { askSqlite3, execute } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { fillSampleHistory } from './sample-history.ts';

const DOCUMENT = 'docs/cookbook.md';
/** A level 3 heading, prose, a statement, and its output. */
const RECIPE =
  /^### (?<question>.+)\n(?<words>(?:(?!#|```).*\n)*)```sql\n(?<sql>[^`]+)```\n```\n(?<output>[^`]*)```$/gm;
const FEWEST_QUESTIONS = 20;

type Recipe = { readonly question: string; readonly sql: string; readonly output: string };

const folder = makeFolder();
const database = folder.file('leagues.db');
await fillSampleHistory(database);
if (process.env.UPDATE_DOCS === '1') rewriteOutputs();
const text = readFileSync(DOCUMENT, 'utf8');
const recipes = readRecipes();
afterAll(() => folder[Symbol.dispose]());

function readRecipes(): readonly Recipe[] {
  return [...text.matchAll(RECIPE)].map(({ groups = {} }) => ({
    question: groups.question ?? '',
    sql: groups.sql ?? '',
    output: groups.output ?? '',
  }));
}

/** Writes the outputs into the document if `UPDATE_DOCS=1`. */
function rewriteOutputs(): void {
  const rewritten = readFileSync(DOCUMENT, 'utf8').replace(
    RECIPE,
    (_, question: string, words: string, sql: string) =>
      `### ${question}\n${words}\`\`\`sql\n${sql}\`\`\`\n\`\`\`\n${print(runQuery(database, sql))}\`\`\``,
  );
  writeFileSync(DOCUMENT, rewritten);
}

/** Formats a result like `league-sync query`. */
function print({ columns, rows }: QueryResult): string {
  const cells = rows.map((row) => row.map((value) => (value === null ? '' : String(value))));
  return `${formatTable(columns, cells)}\n`;
}

/** The rows as JSON objects. */
function toObjects({ columns, rows }: QueryResult) {
  return rows.map((row) => Object.fromEntries(row.map((value, index) => [columns[index], toJson(value)])));
}

function toJson(value: QueryValue) {
  return typeof value === 'bigint' ? Number(value) : value;
}

describe('the cookbook', () => {
  it('answers many questions, with one statement each', () => {
    expect(recipes.length).toBeGreaterThanOrEqual(FEWEST_QUESTIONS);
    expect(new Set(recipes.map(({ question }) => question)).size).toBe(recipes.length);
    expect(recipes).toHaveLength(text.split('```sql\n').length - 1);
  });

  it.each(recipes)('answers "$question"', ({ sql, output }) => {
    // Refuses more than one statement, and statements that write.
    const result = runQuery(database, sql);
    expect(sql.indexOf(';')).toBe(sql.trimEnd().length - 1);
    // Values that depend on the current time or the program version would be outdated tomorrow.
    expect(result.columns).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(age_seconds|program_version)$/)]),
    );
    expect(sql).not.toMatch(/'now'|current_/i);
    expect(result.rows).not.toEqual([]);
    expect(print(result)).toBe(output);
    expect(askSqlite3(database, sql)).toEqual(toObjects(result));
  });

  it('makes types of all tables and views that TypeScript can read', () => {
    const { sql = '' } = recipes.find(({ question }) => question.startsWith('Which types')) ?? {};
    const { rows } = runQuery(database, sql.replace(/WHERE object IN .*\n/, ''));
    const types = rows.join('\n');
    expect(types).toMatch(/^export type about = \{[^}]+\}\nexport type active_leagues = \{/);
    // Throws if it is not TypeScript.
    expect(stripTypeScriptTypes(types).trim()).toBe('');
  });

  it('names a league that another program changed', () => {
    const copy = folder.file('changed.db');
    copyFileSync(database, copy);
    execute(copy, "UPDATE leagues SET status = 'zzz' WHERE league_name = 'NFL Preseason'");
    const { sql = '' } = recipes.find(({ question }) => question.startsWith('Did another program')) ?? {};
    expect(runQuery(copy, sql).rows).toEqual([[42n, 42n, 1n, 'NFL Preseason']]);
  });
});

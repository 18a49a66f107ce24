import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { formatSize } from '../../src/time/duration.ts';
import type { Findings, Part } from '../part.ts';
import { instantOf, makeFeed } from '../support/feed.ts';
import { makeLeagues, type SentLeague } from '../support/leagues.ts';
import { makeHome } from '../support/scratch.ts';
import { formatCount, formatSpread, markdownTable, paragraph } from '../support/statistics.ts';

const CHANGES = 1_000_000;
const COOKBOOK = join(import.meta.dirname, '../../docs/cookbook.md');
const REPEATS = 5;

/** How long historical queries take with a long change feed. */
export const history: Part = {
  name: 'history',
  title: 'Questions about the past',
  measure: async ({ folder }): Promise<Findings> => {
    const tables: string[] = [];
    for (const count of [20_000, 1_000]) tables.push(await askAll(folder, makeLeagues(count)));
    return { goals: [], text: [ABOUT, ...tables].join('\n\n') };
  },
};

const ABOUT =
  paragraph(`A change feed of ${formatCount(CHANGES)} rows, made by hand in the form in which the worker writes it. The questions
are the cookbook's, and those that other programs ask again and again; each is asked ${REPEATS} times: the median, and in parentheses the
least and the most.`);

async function askAll(folder: string, leagues: readonly SentLeague[]): Promise<string> {
  using home = makeHome(folder, 'history');
  const path = join(home.path, 'leagues.db');
  await makeFeed(path, leagues, CHANGES);
  const db = new Database(path, { readonly: true });
  const rows = Object.entries(questions(leagues[leagues.length >> 1]?.league_id ?? '')).map(([question, sql]) => {
    const { rows, ms } = measure(db, sql);
    return [question, formatCount(rows), formatSpread(ms)];
  });
  db.close();
  const heading = `${formatCount(leagues.length)} leagues, ${formatSize(statSync(path).size)}`;
  return markdownTable([heading, 'rows', 'ms'], rows);
}

/** The statement under a heading of the cookbook, without the limit that keeps its output short there. */
function fromCookbook(heading: string, instant: string): string {
  const section = readFileSync(COOKBOOK, 'utf8').split(`### ${heading}\n`)[1] ?? '';
  const statement = /```sql\n([\s\S]*?);\n```/.exec(section)?.[1];
  if (statement === undefined) throw new Error(`the cookbook has no statement under "${heading}"`);
  return statement.replace(/\nLIMIT \d+$/, '').replaceAll('2026-11-05T12:00:00.000Z', instant);
}

function questions(league: string): Readonly<Record<string, string>> {
  const [middle, end] = [instantOf(CHANGES / 2), instantOf(CHANGES)];
  const plain = 'What was live at a given time?';
  const fast = 'What was live at a given time, with a long history?';
  return {
    'history of one league (feed)': `SELECT * FROM league_changes WHERE league_id = '${league}' ORDER BY seq`,
    'history of one league (versions)': `SELECT * FROM league_versions WHERE league_id = '${league}' ORDER BY seq`,
    'history of one league (fields)': `SELECT * FROM league_field_changes WHERE league_id = '${league}' ORDER BY seq`,
    'list at a timestamp, plain, half way': fromCookbook(plain, middle),
    'list at a timestamp, plain, now': fromCookbook(plain, end),
    'list at a timestamp, all columns': `SELECT * FROM league_versions WHERE valid_from <= '${middle}' AND (valid_to IS NULL OR valid_to > '${middle}')`,
    'list at a timestamp, fast, half way': fromCookbook(fast, middle),
    'list at a timestamp, fast, now': fromCookbook(fast, end),
    'next 1,000 changes': `SELECT * FROM league_changes WHERE seq > ${CHANGES / 2} ORDER BY seq LIMIT 1000`,
    'changes of the last day': `SELECT seq, at, league_id, kind FROM league_changes WHERE at >= '${instantOf(CHANGES - 4_320)}'`,
    freshness: 'SELECT * FROM freshness',
    attention: 'SELECT * FROM attention',
  };
}

function measure(db: Database.Database, sql: string): { readonly rows: number; readonly ms: readonly number[] } {
  const statement = db.prepare(sql);
  let rows = 0;
  const ms = Array.from({ length: REPEATS }, () => {
    const began = performance.now();
    rows = statement.all().length;
    return performance.now() - began;
  });
  return { rows, ms };
}

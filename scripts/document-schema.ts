import { readFileSync, writeFileSync } from 'node:fs';
import { type DictionaryRow, dictionaryRows } from '../src/store/data-dictionary.ts';

// Makes docs/schema.md from the descriptions in the code, and deploy/datasette.json from these and the questions of the
// cookbook. With --check it only says whether the files are up to date.

const COOKBOOK = 'docs/cookbook.md';
/** A level 3 heading, prose, and a statement. */
const RECIPE = /^### (.+)\n(?:(?!#|```).*\n)*```sql\n([^`]+);\n```$/gm;
/** By the end of a column's name. */
const UNITS: Readonly<Record<string, string>> = { ms: 'ms', seconds: 's', bytes: 'byte' };
const HEAD = `# The schema

Generated from \`src/store/column-docs.json\` by \`npm run document\`; the same text is in every database, in the table
\`data_dictionary\`. Names of tables, views and columns are a published interface; columns marked internal are not.

| type | holds |
|---|---|
| text | text |
| integer | a whole number |
| number | an integer or a real number, whichever was sent |
| boolean | 0 or 1 |
| instant | ISO 8601 UTC text with milliseconds: \`2026-11-20T12:00:00.000Z\`; text order is the order in time |
| json | valid JSON text |
| any | text or a number |

All tables are STRICT and checked, so that no tool can put text where a number belongs. A question mark means that the
column may be NULL.

## What refers to what

Lines of views are dotted. Only the columns that refer to others, or that others refer to, are shown.
`;

const page = [HEAD, diagram(), '## Tables\n', ...sections('table'), '## Views\n', ...sections('view')].join('\n');

const made = { 'docs/schema.md': page, 'deploy/datasette.json': `${JSON.stringify(datasetteMetadata(), null, 2)}\n` };

for (const [file, text] of Object.entries(made)) {
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${file} is not what src/store/column-docs.json and ${COOKBOOK} say; run: npm run document`);
    process.exitCode = 1;
  }
}

/** For a file named leagues.db. */
function datasetteMetadata() {
  const objects = Map.groupBy(dictionaryRows(), ({ object }) => object);
  const recipes = readFileSync(COOKBOOK, 'utf8').matchAll(RECIPE);
  const leagues = {
    description: 'The leagues of a sports service, and the history of their changes.',
    tables: Object.fromEntries([...objects].map(([name, rows]) => [name, describeForDatasette(rows)])),
    queries: Object.fromEntries([...recipes].map(([, title = '', sql = '']) => [slugOf(title), { title, sql }])),
  };
  return { title: 'league-sync', databases: { leagues } };
}

function describeForDatasette([own, ...columns]: readonly DictionaryRow[]) {
  const description = own?.description ?? '';
  const units = columns.flatMap(({ column_name: name }) => {
    const unit = UNITS[name?.split('_').at(-1) ?? ''];
    return unit === undefined ? [] : [[name, unit]];
  });
  return {
    description,
    hidden: description.startsWith('Internal:'),
    columns: Object.fromEntries(columns.map((column) => [column.column_name, column.description])),
    units: Object.fromEntries(units),
  };
}

function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/** What refers to what, for GitHub to draw: a description that names a key in parentheses, `(runs.id)`, refers to it. */
function diagram(): string {
  const rows = dictionaryRows();
  const links = rows.flatMap((row) => {
    const [, object = '', column = ''] = /\((\w+)\.(id|seq|\w+_id)\)/.exec(row.description) ?? [];
    const to = rows.find((other) => other.object === object && other.column_name === column);
    return to === undefined ? [] : [{ row, to }];
  });
  const shown = new Set(links.flatMap(({ row, to }) => [row, to]));
  const boxes = Map.groupBy(
    rows.filter((row) => shown.has(row)),
    ({ object }) => object,
  );
  const lines = [...boxes].map(([name, columns]) => {
    const inside = columns.map(({ type, column_name }) => `    ${type} ${column_name}`);
    return [`  ${name} {`, ...inside, '  }'].join('\n');
  });
  const arrows = links.map(({ row, to }) => {
    const line = row.object_type === 'view' ? '..' : '--';
    return `  ${to.object} ${row.nullable ? '|o' : '||'}${line}o{ ${row.object} : ${row.column_name}`;
  });
  return ['```mermaid', 'erDiagram', ...lines, ...arrows, '```', ''].join('\n');
}

function sections(objectType: 'table' | 'view'): readonly string[] {
  const rows = dictionaryRows().filter(({ object_type }) => object_type === objectType);
  return rows
    .filter(({ position }) => position === 0)
    .map(({ object, description }) => {
      const columns = rows
        .filter((row) => row.object === object && row.position > 0)
        .map((row) => `| \`${row.column_name}\` | ${row.type}${row.nullable ? '?' : ''} | ${row.description} |`);
      return [
        `### ${object}`,
        '',
        description,
        '',
        '| column | type | meaning |',
        '|---|---|---|',
        ...columns,
        '',
      ].join('\n');
    });
}

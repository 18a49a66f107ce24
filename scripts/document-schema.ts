import { readFileSync, writeFileSync } from 'node:fs';
import { dictionaryRows } from '../src/store/data-dictionary.ts';

// Makes docs/schema.md from the descriptions in the code. With --check it only says whether the file is up to date.

const FILE = 'docs/schema.md';
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
`;

const page = [HEAD, '## Tables\n', ...sections('table'), '## Views\n', ...sections('view')].join('\n');

if (process.argv.includes('--check')) {
  if (readFileSync(FILE, 'utf8') !== page) {
    console.error(`${FILE} is not what src/store/column-docs.json says; run: npm run document`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(FILE, page);
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

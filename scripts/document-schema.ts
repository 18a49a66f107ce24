import { readFileSync, writeFileSync } from 'node:fs';
import { type ObjectDescription, splitDescription, TABLES, VIEWS } from '../src/store/description.ts';

// Makes docs/schema.md from the descriptions in the code. With --check it only says whether the file is up to date.

const FILE = 'docs/schema.md';
const HEAD = `# The schema

Generated from \`src/store/description.ts\` by \`npm run document\`; the same text is in every database, in the table
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

All tables are STRICT and checked, so that no tool can put a text where a number belongs. A question mark stands where
a column may be NULL.
`;

const page = [HEAD, '## Tables\n', ...sections(TABLES), '## Views\n', ...sections(VIEWS)].join('\n');

if (process.argv.includes('--check')) {
  if (readFileSync(FILE, 'utf8') !== page) {
    console.error(`${FILE} is not what src/store/description.ts says; run: npm run document`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(FILE, page);
}

function sections(objects: Readonly<Record<string, ObjectDescription>>): readonly string[] {
  return Object.entries(objects).map(([name, { description, columns }]) => {
    const rows = Object.entries(columns).map(([column, described]) => {
      const [type, text] = splitDescription(described);
      return `| \`${column}\` | ${type} | ${text} |`;
    });
    return [`### ${name}`, '', description, '', '| column | type | meaning |', '|---|---|---|', ...rows, ''].join('\n');
  });
}

import { beforeAll, describe, expect, it } from 'vitest';
import { dictionaryRows } from '../../src/store/data-dictionary.ts';
import { dumpTables, execute, readRows } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { openTestStore } from '../support/store.ts';

let path = '';

beforeAll(async () => {
  const folder = makeFolder();
  path = folder.file('leagues.db');
  await openAndClose();
  return () => folder[Symbol.dispose]();
});

async function openAndClose(): Promise<void> {
  const store = await openTestStore(path);
  await store[Symbol.asyncDispose]();
}

const described = (where: string) =>
  readRows(path, `SELECT object, object_type, column_name, type, nullable FROM data_dictionary WHERE ${where}`);

/** The types of the dictionary by the declared types of SQLite. */
const DECLARED: Readonly<Record<string, readonly string[]>> = {
  TEXT: ['text', 'instant', 'json'],
  INTEGER: ['integer', 'boolean'],
  ANY: ['number', 'any'],
};

describe('the data dictionary', () => {
  it('describes every table and every view', () => {
    const objects = readRows(
      path,
      "SELECT name AS object, type AS object_type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1",
    );
    const found = readRows(path, 'SELECT object, object_type FROM data_dictionary WHERE position = 0 ORDER BY 1');
    expect(found).toEqual(objects);
  });

  it.each(dictionaryRows().filter(({ position }) => position === 0))(
    'describes the columns of $object, in their order',
    ({ object }) => {
      const columns = readRows(path, `SELECT name FROM pragma_table_xinfo('${object}') ORDER BY cid`);
      const found = described(`object = '${object}' AND position > 0 ORDER BY position`);
      expect(found.map(({ column_name }) => column_name)).toEqual(columns.map(({ name }) => name));
    },
  );

  it.each(dictionaryRows().filter(({ position, object_type }) => position === 0 && object_type === 'table'))(
    'says of the columns of $object what SQLite enforces',
    ({ object }) => {
      const columns = readRows(path, `SELECT name, type, "notnull", pk FROM pragma_table_xinfo('${object}')`);
      const rows = new Map(described(`object = '${object}'`).map((row) => [row.column_name, row]));
      for (const { name, type, notnull, pk } of columns) {
        const row = rows.get(name);
        expect(DECLARED[String(type)], `type of ${object}.${name}`).toContain(row?.type);
        expect(row?.nullable, `nullable of ${object}.${name}`).toBe(notnull === 1 || Number(pk) > 0 ? 0 : 1);
      }
    },
  );

  it('marks as JSON exactly the columns that SQLite checks to be JSON', () => {
    const sources = readRows(path, "SELECT name, sql FROM sqlite_schema WHERE type = 'table'");
    const checked = sources.flatMap(({ name, sql }) =>
      [...String(sql).matchAll(/json_valid\((\w+)\)/g)].map((match) => `${name}.${match[1]}`),
    );
    const json = described("object_type = 'table' AND type = 'json'").map((row) => `${row.object}.${row.column_name}`);
    expect(json.toSorted()).toEqual(checked.toSorted());
  });

  it('is brought up to date at the next start, and otherwise not written', async () => {
    const fresh = dumpTables(path);
    execute(path, "UPDATE data_dictionary SET description = 'old' WHERE position = 0");
    await openAndClose();
    expect(dumpTables(path)).toEqual(fresh);

    // Changes only the rowids: rewriting the table would number it from 1 again.
    execute(path, 'UPDATE data_dictionary SET rowid = rowid + 1000');
    await openAndClose();
    expect(readRows(path, 'SELECT min(rowid) AS first FROM data_dictionary')).toEqual([{ first: 1001 }]);
  });
});

import { stringify } from 'csv-stringify/sync';
import { loadDatabasePath } from '../config/paths.ts';
import { EXIT } from '../errors.ts';
import { type QueryResult, type QueryValue, runQuery } from '../store/queries/sql.ts';
import { formatTable } from '../terminal/table.ts';
import type { Command } from './host.ts';

type Format = 'table' | 'json' | 'csv';

/** In the place of a statement that comes from stdin. */
const FROM_INPUT = '-';

/** Runs one statement that reads, and prints its rows. */
export const query: Command<{ readonly sql: string; readonly format: Format }> = async (host, { sql, format }) => {
  const result = runQuery(loadDatabasePath(host), sql === FROM_INPUT ? await host.readInput() : sql);
  await host.print(WRITERS[format](result));
  return EXIT.done;
};

const WRITERS: Readonly<Record<Format, (result: QueryResult) => string>> = {
  table: ({ columns, rows }) =>
    formatTable(
      columns,
      rows.map((row) => row.map(cell)),
    ),
  json: ({ columns, rows }) => `[${rows.map((row) => objectJson(columns, row)).join(',\n')}]`,
  csv: ({ columns, rows }) =>
    stringify([columns, ...rows.map((row) => row.map(field))], { quoted_match: /^$/ }).replace(/\n$/, ''),
};

/** NULL stays NULL, which CSV writes as nothing; an empty text is written in quotes. */
function field(value: QueryValue): string | null {
  return value === null ? null : cell(value);
}

/** Text as it is, NULL as nothing, a BLOB as hexadecimal digits. */
function cell(value: QueryValue): string {
  if (value === null) return '';
  return Buffer.isBuffer(value) ? value.toString('hex') : String(value);
}

/** Built by hand, so that integers keep every digit and columns of the same name are all there. */
function objectJson(columns: readonly string[], row: readonly QueryValue[]): string {
  return `{${columns.map((name, index) => `${JSON.stringify(name)}:${valueJson(row[index] ?? null)}`).join(',')}}`;
}

function valueJson(value: QueryValue): string {
  if (typeof value === 'bigint') return String(value);
  // JSON has no word for infinity, but a number that is as large.
  if (typeof value === 'number' && !Number.isFinite(value)) return value > 0 ? '1e999' : '-1e999';
  return JSON.stringify(Buffer.isBuffer(value) ? value.toString('hex') : value);
}

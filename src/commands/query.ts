import { stringify } from 'csv-stringify/sync';
import { EXIT } from '../errors.ts';
import { type QueryResult, type QueryValue, runQuery } from '../store/queries/sql.ts';
import type { Terminal } from '../terminal/style.ts';
import { formatRecord, formatTable } from '../terminal/table.ts';
import { widthOf } from '../terminal/text.ts';
import type { Command } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';

type Format = 'table' | 'json' | 'csv';

export const query: Command<DatabaseOption & { readonly sql: string; readonly format: Format }> = async (
  io,
  { sql, format, ...option },
) => {
  const path = await findDatabase(io, option);
  const result = runQuery(path, sql === '-' ? await io.readInput() : sql);
  await io.print(WRITERS[format](result, io.terminal));
  return EXIT.done;
};

const WRITERS: Readonly<Record<Format, (result: QueryResult, terminal: Terminal | undefined) => string>> = {
  table: ({ columns, rows }, terminal) => {
    const cells = rows.map((row) => row.map(toText));
    const table = formatTable(columns, cells);
    if (terminal === undefined) return table;
    const isTooWide = table.split('\n').some((line) => widthOf(line) > terminal.columns);
    if (!isTooWide || cells.length === 0) return formatTable(columns, cells, terminal);
    // A cut value could be the one that was asked for, so each row becomes a paragraph, one column below the other.
    const records = cells.map((row) => columns.map((name, index) => [name, row[index] ?? ''] as const));
    return records.map((record) => formatRecord(record, terminal)).join('\n\n');
  },
  json: ({ columns, rows }) => `[${rows.map((row) => objectJson(columns, row)).join(',\n')}]`,
  csv: ({ columns, rows }) => {
    // NULL becomes an empty field, and an empty text becomes `""`, so that readers can tell them apart.
    const cells = rows.map((row) => row.map((value) => (value === null ? null : toText(value))));
    return stringify([columns, ...cells], { quoted_match: /^$/ }).replace(/\n$/, '');
  },
};

function toText(value: QueryValue): string {
  if (value === null) return '';
  return Buffer.isBuffer(value) ? value.toString('hex') : String(value);
}

/** Does not build an object first, since several columns may have the same name. */
function objectJson(columns: readonly string[], row: readonly QueryValue[]): string {
  return `{${columns.map((name, index) => `${JSON.stringify(name)}:${valueJson(row[index] ?? null)}`).join(',')}}`;
}

function valueJson(value: QueryValue): string {
  if (typeof value === 'bigint') return String(value);
  // JSON has no infinity, but most parsers read 1e999, which is too large for a double, as infinity.
  if (typeof value === 'number' && !Number.isFinite(value)) return value > 0 ? '1e999' : '-1e999';
  return JSON.stringify(Buffer.isBuffer(value) ? value.toString('hex') : value);
}

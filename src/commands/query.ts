import { stringify } from 'csv-stringify/sync';
import { codeOf, EXIT, UsageError } from '../errors.ts';
import { lengthOf, type QueryResult, type QueryValue, readQuery, TAKE_PARTS } from '../store/queries/user-query.ts';
import { escapeAtTerminal, type Terminal } from '../terminal/style.ts';
import { formatRecord, formatTable } from '../terminal/table.ts';
import { widthOf } from '../terminal/text.ts';
import type { Command, ProcessIO } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';

type Format = 'table' | 'json' | 'ndjson' | 'csv';

/** A table is printed once the widths of its columns are known. */
const MAX_TABLE_ROWS = 100_000;

export const query: Command<DatabaseOption & { readonly sql: string; readonly format: Format }> = async (
  io,
  { sql, format, ...option },
) => {
  const path = findDatabase(io, option);
  const parts = readQuery(path, sql === '-' ? await io.readInput() : sql);
  if (format === 'table') await printTable(io, parts);
  else await printRows(io, parts, format);
  return EXIT.done;
};

async function printTable(io: ProcessIO, parts: Iterable<QueryResult>): Promise<void> {
  const rows: (readonly QueryValue[])[] = [];
  let columns: readonly string[] = [];
  for (const part of parts) {
    columns = part.columns;
    rows.push(...part.rows);
    if (rows.length < MAX_TABLE_ROWS) continue;
    const message = `there are more rows than a table takes; these are the first ${MAX_TABLE_ROWS}`;
    io.warn({ message, fix: 'use --format ndjson or csv, which print each row as it comes' });
    break;
  }
  await io.print(formatPart({ columns, rows: rows.slice(0, MAX_TABLE_ROWS) }, (part) => formatRows(part, io.terminal)));
}

/** Throws a UsageError that names the largest column if the text would be longer than a string may be. */
function formatPart(part: QueryResult, format: (part: QueryResult) => string): string {
  try {
    return format(part);
  } catch (error) {
    if (codeOf(error) !== 'ERR_STRING_TOO_LONG' && !(error instanceof RangeError)) throw error;
    const { columns, rows } = part;
    const size = (index: number) => rows.reduce((sum, row) => sum + lengthOf(row[index] ?? null), 0);
    const [largest = 0] = [...columns.keys()].toSorted((one, other) => size(other) - size(one));
    throw new UsageError(`What the column ${columns[largest]} holds is too large to print${TAKE_PARTS}`);
  }
}

function formatRows({ columns, rows }: QueryResult, terminal: Terminal): string {
  const cells = rows.map((row) => row.map(toText));
  const table = formatTable(columns, cells);
  const isTooWide = table.split('\n').some((line) => widthOf(line) > terminal.columns);
  if (!isTooWide || cells.length === 0) return formatTable(columns, cells, terminal);
  // A cut value could be the one that was asked for, so each row becomes a paragraph, one column below the other.
  const records = cells.map((row) => columns.map((name, index) => [name, row[index] ?? ''] as const));
  return records.map((record) => formatRecord(record, terminal)).join('\n\n');
}

/** Prints each part once it is known whether another one follows. */
async function printRows(io: ProcessIO, parts: Iterable<QueryResult>, format: Exclude<Format, 'table'>): Promise<void> {
  const toShown = (text: string): string => escapeAtTerminal(text, io.terminal);
  const write = (part: QueryResult, isFirst: boolean): string => {
    if (format === 'csv') return formatCsv(part, isFirst, toShown);
    const objects = part.rows.map((row) => toShown(objectJson(part.columns, row)));
    return format === 'ndjson' ? objects.join('\n') : (isFirst ? '[' : '') + objects.join(',\n');
  };
  let pending: string | undefined;
  for (const part of parts) {
    if (pending !== undefined && part.rows.length === 0) break;
    if (pending !== undefined) await io.print(format === 'json' ? `${pending},` : pending);
    pending = formatPart(part, (one) => write(one, pending === undefined));
  }
  if (format === 'json') await io.print(`${pending}]`);
  else if (pending) await io.print(pending);
}

function formatCsv({ columns, rows }: QueryResult, isFirst: boolean, toShown: (text: string) => string): string {
  // NULL becomes an empty field, and an empty text becomes `""`, so that readers can tell them apart.
  const cells = rows.map((row) => row.map((value) => (value === null ? null : toShown(toText(value)))));
  return stringify([...(isFirst ? [columns.map(toShown)] : []), ...cells], { quoted_match: /^$/ }).replace(/\n$/, '');
}

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

import type Database from 'better-sqlite3';
import { didYouMean } from '../../config/read-environment.ts';
import { codeOf, UsageError } from '../../errors.ts';
import { tryOrUndefined } from '../../try-or-undefined.ts';
import { openReader } from '../connection.ts';
import { explainErrors } from '../database-error.ts';

export type QueryResult = { readonly columns: readonly string[]; readonly rows: readonly (readonly QueryValue[])[] };
/** What helps where a value is too large. */
export const TAKE_PARTS = '; take a part of it, as substr(column, 1, 1000) does, or its length(column)';
/** Integers are BigInt, so that no digit is lost. */
export type QueryValue = string | number | bigint | Buffer | null;

const EXPLAIN = '^\\s*(?:EXPLAIN\\s+(?:QUERY\\s+PLAN\\s+)?)?';
const VERB = new RegExp(`${EXPLAIN}([A-Z]+)`, 'i');
const PRAGMA = new RegExp(`${EXPLAIN}PRAGMA\\s+(?:\\w+\\s*\\.\\s*)?(\\w+)\\s*(\\(|=)?`, 'i');
const READING_PRAGMA =
  /^(application_id|collation_list|compile_options|data_version|database_list|encoding|freelist_count|function_list|module_list|page_count|page_size|pragma_list|schema_version|synchronous|user_version)$/i;
/** PRAGMAs whose argument, such as the name of a table, does not make them write. */
const NAMED_PRAGMA =
  /^(foreign_key_list|index_info|index_list|index_xinfo|integrity_check|quick_check|table_info|table_list|table_xinfo)$/i;

/** Of most statements all rows, so that the database is closed before they are printed to a slow reader. */
const ROWS_AT_ONCE = 10_000;
/** Fewer of long rows, so that the memory does not depend on what they hold. */
const LENGTH_AT_ONCE = 1_000_000;

/**
 * Runs exactly one statement that reads and returns rows, on a read-only connection. Yields the rows as they come, some
 * at a time; if there are none, an empty part. Throws a UsageError for any other statement and for SQL errors, and a
 * DatabaseError for errors of the file.
 */
export function* readQuery(path: string, sql: string): Generator<QueryResult> {
  const plain = stripComments(sql);
  const verb = VERB.exec(plain)?.[1]?.toUpperCase();
  if (verb === undefined) throw new UsageError('No statement to run; write one that reads, such as SELECT.');
  if (verb === 'PRAGMA') assertReadingPragma(plain);
  const db = openReader(path);
  try {
    yield* readParts(db, sql, verb);
  } catch (error) {
    explainErrors(path, () => {
      if (!isSqlError(error)) throw error;
      throw new UsageError(`SQL error: ${error.message}${hintOf(error.message, sql, db)}`);
    });
  } finally {
    db.close();
  }
}

function* readParts(db: Database.Database, sql: string, verb: string): Generator<QueryResult> {
  const statement = db.prepare<[], QueryValue[]>(sql);
  if (!statement.readonly || !statement.reader)
    throw new UsageError(`${verb} is not allowed: only statements that read and return rows are.`);
  const columns = statement.columns().map((column) => column.name);
  let rows: QueryValue[][] = [];
  let length = 0;
  for (const row of statement.safeIntegers(true).raw(true).iterate()) {
    rows.push(row);
    length += row.reduce<number>((sum, value) => sum + lengthOf(value), 0);
    if (rows.length < ROWS_AT_ONCE && length < LENGTH_AT_ONCE) continue;
    yield { columns, rows };
    rows = [];
    length = 0;
  }
  db.close();
  yield { columns, rows };
}

export function lengthOf(value: QueryValue): number {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 0;
}

/** Like `readQuery`, all rows at once. */
export function runQuery(path: string, sql: string): QueryResult {
  const parts = [...readQuery(path, sql)];
  return { columns: parts[0]?.columns ?? [], rows: parts.flatMap(({ rows }) => rows) };
}

/** After a name that does not exist: the one that was probably meant, or else where names are found. */
function hintOf(message: string, sql: string, db: Database.Database): string {
  if (message === 'string or blob too big') return TAKE_PARTS;
  const [, kind, name] = /^no such (table|column): "?(?:\w+\.)?(\w+)/.exec(message) ?? [];
  if (kind === undefined || name === undefined) return '';
  const known = `SELECT DISTINCT ${kind === 'table' ? 'object' : 'column_name'} FROM data_dictionary
    WHERE column_name <> '' AND (@kind = 'table' OR instr(lower(@sql), object))`;
  const names = tryOrUndefined(() => db.prepare<[object], string>(known).pluck().all({ kind, sql })) ?? [];
  return (
    didYouMean(name, names) || '; SELECT * FROM about names the tables, SELECT * FROM data_dictionary their columns'
  );
}

/** Throws a UsageError unless the PRAGMA only reads. Call this before `prepare`, which executes some PRAGMAs. */
function assertReadingPragma(sql: string): void {
  const [, name = '', argument] = PRAGMA.exec(sql) ?? [];
  const isReading = NAMED_PRAGMA.test(name) ? argument !== '=' : READING_PRAGMA.test(name) && argument === undefined;
  if (!isReading) throw new UsageError('This PRAGMA is not allowed: only PRAGMAs that read are.');
}

function stripComments(sql: string): string {
  return sql
    .replace(/^(?:\s+|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?(?:\*\/|$))+/, '')
    .replace(/\/\*[\s\S]*?\*\/|--[^\n]*/g, ' ');
}

function isSqlError(error: unknown): error is Error {
  if (error instanceof RangeError || error instanceof TypeError) return true;
  return /^SQLITE_(ERROR|RANGE|AUTH|TOOBIG|MISMATCH|CONSTRAINT|READONLY$)/.test(codeOf(error));
}

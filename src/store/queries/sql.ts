import { codeOf, UsageError } from '../../errors.ts';
import { withReader } from '../connection.ts';

/** What a statement gave back. Integers are BigInt, so that no digit is lost. */
export type QueryResult = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly QueryValue[])[];
};
export type QueryValue = string | number | bigint | Buffer | null;

/** Statements that can only read, whatever follows. `WITH` may still end in a write: SQLite itself tells that. */
const READING = new Set(['SELECT', 'VALUES', 'WITH']);
/** PRAGMAs that only tell something. Some of them take the name of a table or an index. */
const TELLING_PRAGMAS = new Set(
  `application_id collation_list compile_options data_version database_list encoding foreign_key_list freelist_count
   function_list index_info index_list index_xinfo integrity_check module_list page_count page_size
   pragma_list quick_check schema_version synchronous table_info table_list table_xinfo user_version`.split(/\s+/),
);
const TAKING_A_NAME =
  /^(foreign_key_list|index_info|index_list|index_xinfo|integrity_check|quick_check|table_info|table_list|table_xinfo)$/;

/**
 * Runs exactly one statement that reads and returns rows, on a read-only connection. Throws a UsageError for anything
 * else and for SQL that SQLite does not take, and a DatabaseError where the file is the trouble.
 */
export function runQuery(path: string, sql: string): QueryResult {
  refuseWriting(sql);
  return withReader(path, (db) => {
    try {
      const statement = db.prepare(sql);
      if (!statement.readonly) throw new UsageError('Only statements that read are run; this one would write.');
      if (!statement.reader) throw new UsageError('The statement returns no rows; only one that does is run.');
      const rows = statement.safeIntegers(true).raw(true).all() as QueryValue[][];
      return { columns: statement.columns().map((column) => column.name), rows };
    } catch (error) {
      throw isSqlFault(error) ? new UsageError(`SQLite does not take this statement: ${error.message}`) : error;
    }
  });
}

/** Some statements act as soon as they are prepared, so they are told by their first words. */
function refuseWriting(sql: string): void {
  const words = /^\s*(?:EXPLAIN\s+(?:QUERY\s+PLAN\s+)?)?([A-Z]+)/i.exec(stripComments(sql));
  const verb = words?.[1]?.toUpperCase();
  if (verb === undefined) throw new UsageError('There is no statement to run; write one that reads, such as SELECT.');
  if (verb === 'PRAGMA') refuseSetting(stripComments(sql));
  else if (!READING.has(verb))
    throw new UsageError(`${verb} is not run here: only statements that read and return rows are.`);
}

function refuseSetting(sql: string): void {
  const match = /^\s*(?:EXPLAIN\s+(?:QUERY\s+PLAN\s+)?)?PRAGMA\s+(?:\w+\s*\.\s*)?(\w+)\s*(\(|=)?/i.exec(sql);
  const name = match?.[1]?.toLowerCase() ?? '';
  const argument = match?.[2];
  const telling =
    TELLING_PRAGMAS.has(name) && (argument === undefined || (argument === '(' && TAKING_A_NAME.test(name)));
  if (!telling) throw new UsageError('This PRAGMA is not run here: it can set or do something, not only tell it.');
}

/** Comments before the first word would hide it. */
function stripComments(sql: string): string {
  return sql
    .replace(/^(?:\s+|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?(?:\*\/|$))+/, '')
    .replace(/\/\*[\s\S]*?\*\/|--[^\n]*/g, ' ');
}

function isSqlFault(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof UsageError) return false;
  const code = codeOf(error);
  return (
    error instanceof RangeError ||
    error instanceof TypeError ||
    /^SQLITE_(ERROR|RANGE|AUTH|TOOBIG|MISMATCH|CONSTRAINT|READONLY$)/.test(code)
  );
}

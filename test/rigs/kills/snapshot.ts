import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { askSqlite3, type Row } from '../../support/database.ts';
import { OUTSIDERS } from '../../support/read-only-client.ts';
import { cellsOf, SENT, type Stored, type Table } from './table.ts';

/** A row of `runs`. */
export type Run = Readonly<Record<'added' | 'changed' | 'removed' | 'restored', number>> & {
  readonly id: number;
  readonly outcome: string;
  readonly at: string;
  readonly message: string | null;
};

/** A change of the feed. */
export type Change = Readonly<Record<'league_id' | 'kind' | 'at', string>> & {
  readonly seq: number;
  readonly run_id: number;
  readonly after: Readonly<Record<string, unknown>> | null;
};

/** The contents of a database that matter, in one snapshot. */
export type Look = {
  readonly table: Table;
  readonly runs: readonly Run[];
  /** The changes after the requested `seq`. */
  readonly changes: readonly Change[];
  readonly changesInAll: number;
  /** The result of the integrity check; `ok` if the file is intact. */
  readonly integrity: unknown;
  readonly brokenReferences: unknown;
};

/** One statement is one snapshot. */
function lookSql(sinceSeq: number): string {
  const row = `json_array(league_id, json_array(${SENT.join(', ')}), first_seen_at, changed_at, removed_at)`;
  const run = `json_object('id', id, 'outcome', outcome, 'at', finished_at, 'message', service_message,
    'added', added, 'changed', changed, 'removed', removed, 'restored', restored)`;
  const change = `json_object('seq', seq, 'run_id', run_id, 'at', at, 'league_id', league_id, 'kind', kind,
    'after', json(after))`;
  return `SELECT (SELECT json_group_array(${row}) FROM leagues) AS leagues,
    (SELECT json_group_array(${run}) FROM (SELECT * FROM runs ORDER BY id)) AS runs,
    (SELECT json_group_array(${change}) FROM (SELECT * FROM league_changes WHERE seq > ${sinceSeq} ORDER BY seq)) AS changes,
    (SELECT count(*) FROM league_changes) AS changesInAll,
    (SELECT group_concat(integrity_check) FROM pragma_integrity_check) AS integrity,
    (SELECT count(*) FROM pragma_foreign_key_check) AS brokenReferences`;
}

type League = [id: string, sent: unknown[], firstSeenAt: unknown, changedAt: unknown, removedAt: unknown];

/** Why it is impossible to read as another user; undefined if it is possible. */
export function missingReader(folder: string): string | undefined {
  return OUTSIDERS[0]?.missing(folder);
}

/**
 * Reads in another process, without write permission if possible. Undefined if there is no table yet. An error of the
 * reader replaces the result of the integrity check.
 */
export async function lookAt(path: string, sinceSeq: number): Promise<Look | undefined> {
  if (!existsSync(path)) return undefined;
  try {
    return await readWhole(path, sinceSeq);
  } catch (error) {
    const integrity = `unreadable: ${String(error)}`;
    return { table: new Map(), runs: [], changes: [], changesInAll: 0, integrity, brokenReferences: 0 };
  }
}

/** The byte of the file header with the journal mode, and its value for WAL mode. */
const READ_VERSION_AT = 19;
const WAL_VERSION = 2;

/**
 * Whether the file is in WAL mode without a WAL, as a kill leaves it between the removal of the WAL at a clean stop and
 * the write of the header. Then only users who can write to the folder can read it, until the next start
 * (docs/messages.md, "The last line").
 */
export function lacksWal(path: string): boolean {
  if (!existsSync(path) || existsSync(`${path}-wal`)) return false;
  const file = openSync(path, 'r');
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, READ_VERSION_AT);
  closeSync(file);
  return byte[0] === WAL_VERSION;
}

async function readWhole(path: string, sinceSeq: number): Promise<Look | undefined> {
  const [outsider] = OUTSIDERS;
  const asOutsider = outsider !== undefined && missingReader(dirname(path)) === undefined && !lacksWal(path);
  const ask = async (sql: string): Promise<Row> => {
    const rows = asOutsider ? await outsider.ask(path, sql) : askSqlite3(path, sql);
    return rows[0] ?? {};
  };
  if ((await ask('SELECT count(*) AS n FROM sqlite_schema')).n === 0) return undefined;
  const { leagues, runs, changes, changesInAll, integrity, brokenReferences } = await ask(lookSql(sinceSeq));
  return {
    table: new Map(parse<League>(leagues).map(([id, ...rest]) => [id, toStored(rest)])),
    runs: parse<Run>(runs),
    changes: parse<Change>(changes),
    changesInAll: Number(changesInAll),
    integrity,
    brokenReferences,
  };
}

function parse<T>(list: unknown): readonly T[] {
  return JSON.parse(String(list));
}

function toStored([sent, firstSeenAt, changedAt, removedAt]: [unknown[], unknown, unknown, unknown]): Stored {
  return { sent: JSON.stringify(sent), firstSeenAt, changedAt, removedAt };
}

/** Folds changes into the table, like any reader of the feed. */
export function foldChanges(table: Table, changes: readonly Change[]): Table {
  const folded = new Map(table);
  for (const { league_id, at, after } of changes) {
    const known = folded.get(league_id);
    if (after === null && known !== undefined) folded.set(league_id, { ...known, changedAt: at, removedAt: at });
    if (after === null) continue;
    const firstSeenAt = known?.firstSeenAt ?? at;
    folded.set(league_id, { sent: cellsOf(after), firstSeenAt, changedAt: at, removedAt: null });
  }
  return folded;
}

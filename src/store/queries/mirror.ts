import type Database from 'better-sqlite3';
import { openOwnSnapshot } from '../connection.ts';
import { explainErrors } from '../database-error.ts';
import { createIdentity } from '../tables/identity.ts';
import { type BatchLimits, takeBatch } from './batch.ts';
import { lastSeq } from './feed.ts';

/** One state of the database, until it is disposed of. Its methods throw a DatabaseError. */
export type MirrorSnapshot = Disposable & ReturnType<typeof createQueries>;

type Row = Readonly<Record<string, string | number | null>>;
/** `from` and the result are rowids, by which pages follow each other. */
type TablePage = { readonly rows: readonly Row[]; readonly next: number | undefined };
type TableQuery = { readonly name: string; readonly columns: readonly string[]; readonly where?: string };

/** Opens a read-only connection of its own, as `withOwnReader` does: the worker may have the file open. */
export function openMirrorSnapshot(path: string): MirrorSnapshot {
  const client = openOwnSnapshot(path);
  return { ...createQueries(client, path), [Symbol.dispose]: () => void client.close() };
}

function createQueries(client: Database.Database, path: string) {
  const select = <T>(sql: string) => client.prepare<unknown[], T>(sql).pluck();
  const get = <T>(sql: string, ...values: readonly (string | number)[]): T | undefined =>
    explainErrors(path, () => select<T>(sql).get(...values));
  return {
    path,
    databaseId: (): string => explainErrors(path, createIdentity(client).id),
    lastSeq: (): number => explainErrors(path, () => lastSeq(client)),
    /** When the change was stored; undefined if there is none with this number. */
    changedAt: (seq: number): string | undefined => get<string>('SELECT at FROM league_changes WHERE seq = ?', seq),
    /** The last change of the run that ends at least `count` changes after `seq`, or of the last run. */
    endOfRun: (seq: number, count: number): number => {
      const at = get<string>('SELECT at FROM league_changes WHERE seq >= ? ORDER BY seq LIMIT 1', seq + count);
      // All changes of a run have the same `at`, and no other run has it.
      return get<number | null>('SELECT max(seq) FROM league_changes WHERE at = ?', at ?? '') ?? lastSeq(client);
    },
    /** The first ids of live leagues that do not fulfil a condition, cut. */
    leaguesWithout: (condition: string): readonly string[] =>
      explainErrors(path, () =>
        select<string>(`SELECT substr(league_id, 1, 60) FROM leagues WHERE NOT (${condition}) LIMIT 3`).all(),
      ),
    count: ({ name, where = 'true' }: Pick<TableQuery, 'name' | 'where'>): number =>
      get<number>(`SELECT count(*) FROM ${name} WHERE ${where}`) ?? 0,
    page: ({ name, columns, where = 'true' }: TableQuery, from: number, limits: BatchLimits): TablePage =>
      explainErrors(path, () => {
        const sql = `SELECT rowid AS row_number, ${columns.join(', ')} FROM ${name}
          WHERE rowid >= ? AND ${where} ORDER BY rowid LIMIT ?`;
        const found = client.prepare<unknown[], Row>(sql).iterate(from, limits.limit);
        const { rows } = takeBatch(found, limits, lengthOf);
        const last = rows.at(-1)?.row_number;
        return { rows, next: last === undefined ? undefined : Number(last) + 1 };
      }),
  };
}

function lengthOf(row: Row): number {
  return Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}

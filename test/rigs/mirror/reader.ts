import { expect } from 'vitest';
import { codeOf } from '../../../src/errors.ts';
import { connectAs, type Postgres } from '../../postgres/postgres.ts';
import type { PostgresServer } from '../../postgres/server.ts';
import { type Row, readRows } from '../../support/database.ts';

/** The last run of the feed, how many changes of it are there, and how many leagues are as it left them. */
const LAST_RUN = `SELECT last.run_id::int AS run, state.seq = last.seq AS is_cursor,
  (SELECT count(*)::int FROM league_sync.league_changes AS change WHERE change.run_id = last.run_id) AS changes,
  (SELECT count(*)::int FROM league_sync.leagues AS league WHERE league.changed_at = last.at) AS leagues
  FROM league_sync.mirror_state AS state, LATERAL
  (SELECT run_id, seq, at FROM league_sync.league_changes ORDER BY seq DESC LIMIT 1) AS last`;
const CHANGES_OF_RUNS = 'SELECT run_id AS run, count(*) AS changes FROM league_changes GROUP BY run_id';

/** The server is away, starting or ending, or a rebuild and this reader waited for each other. */
const EXPECTED = /^(ECONN\w+|57P0\d|08\w{3}|40P01|Error: Connection terminated.*)$/;

export type LoopReader = ReturnType<typeof startReader>;

/** Reads the mirror over and over again, also while its server is away. */
export function startReader({ name }: Postgres, server: PostgresServer) {
  const seen = new Set<string>();
  const whole = new Set<string>();
  const errors = new Set<string>();
  let reads = 0;
  let isOver = false;
  const readAll = async (): Promise<void> => {
    const client = await connectAs(server.port, name);
    try {
      while (!isOver) {
        for (const row of (await client.query<Row>(LAST_RUN)).rows) seen.add(JSON.stringify(row));
        reads += 1;
      }
    } finally {
      await client.end();
    }
  };
  const reading = (async () => {
    while (!isOver) {
      await readAll().catch((error: unknown) => errors.add(codeOf(error) || String(error)));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  return {
    /** Fails if a run was ever seen with less than all changes that it has in this file, or in one of an earlier call. */
    expectWholeRuns: (database: string): void => {
      for (const { run, changes } of readRows(database, CHANGES_OF_RUNS))
        whole.add(JSON.stringify({ run, is_cursor: true, changes, leagues: changes }));
      expect([...seen].filter((state) => !whole.has(state))).toEqual([]);
      expect([...errors].filter((error) => !EXPECTED.test(error))).toEqual([]);
    },
    reads: () => reads,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      isOver = true;
      await reading;
    },
  };
}

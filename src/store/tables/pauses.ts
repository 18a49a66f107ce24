import type Database from 'better-sqlite3';

/** The pauses (`Retry-After`) in the rows of runs and logins: what a start has to know of the workers before it. */
export type PauseRows = {
  /** Remembers, in the row of the last run, the instant until which this service asked to be left alone. */
  readonly note: (fingerprint: string, until: string) => void;
  /** The pause that was on when this service was last asked for anything, and since when it was. */
  readonly last: (fingerprint: string) => { readonly until: string; readonly askedAt: string } | undefined;
};

export function createPauseRows(client: Database.Database): PauseRows {
  const note = client.prepare<[{ it: string; until: string }]>(
    'UPDATE runs SET not_before = @until WHERE id = (SELECT max(id) FROM runs WHERE fingerprint = @it)',
  );
  // The latest row, and not the latest end: a clock that was ahead may have written one that never comes.
  const last = client.prepare<[{ it: string }], { until: string | null; askedAt: string }>(
    `SELECT * FROM (
      SELECT not_before AS until, started_at AS askedAt FROM runs WHERE fingerprint = @it ORDER BY id DESC LIMIT 1)
    UNION ALL SELECT * FROM (
      SELECT not_before, at FROM logins WHERE fingerprint = @it ORDER BY id DESC LIMIT 1)`,
  );
  return {
    note: (fingerprint, until) => {
      note.run({ it: fingerprint, until });
    },
    last: (fingerprint) => {
      // A login's counts only where there has been no run, which every later pause is written into.
      const [row] = last.all({ it: fingerprint });
      return row === undefined || row.until === null ? undefined : { ...row, until: row.until };
    },
  };
}

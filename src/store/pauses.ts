import type Database from 'better-sqlite3';

/** A pause that a service asked for at a run or a login: its end, and when it asked. */
export type RecordedPause = { readonly until: string; readonly askedAt: string };

/** The pauses (`Retry-After`) in `runs` and `logins`: what a start has to know of the workers before it. */
export type PauseRows = {
  /** Remembers, while a run goes on, the instant until which the service asked to be left alone. */
  readonly note: (until: string) => void;
  /** The one that ends last of those that this service asked for. */
  readonly last: (fingerprint: string) => RecordedPause | undefined;
  /**
   * Has those that were asked for in the future, by a clock that has been set back since, begin at this instant: they
   * would come to no end otherwise.
   */
  readonly beginAnew: (now: string) => void;
};

export function createPauseRows(client: Database.Database): PauseRows {
  const note = client.prepare<[string]>("UPDATE runs SET not_before = ? WHERE outcome = 'running'");
  const last = client.prepare<[{ it: string }], RecordedPause>(
    `SELECT not_before AS until, started_at AS askedAt FROM runs WHERE fingerprint = @it AND not_before IS NOT NULL
      UNION ALL SELECT not_before, at FROM logins WHERE fingerprint = @it AND not_before IS NOT NULL
      ORDER BY until DESC LIMIT 1`,
  );
  return {
    note: (until) => {
      note.run(until);
    },
    last: (fingerprint) => last.get({ it: fingerprint }),
    beginAnew: (now) => {
      for (const [table, at] of [
        ['runs', 'started_at'],
        ['logins', 'at'],
      ]) {
        client
          .prepare(
            `UPDATE ${table}
              SET not_before = strftime('%Y-%m-%dT%H:%M:%fZ', julianday(@now) + julianday(not_before) - julianday(${at}))
              WHERE ${at} > @now AND not_before > ${at}`,
          )
          .run({ now });
      }
    },
  };
}

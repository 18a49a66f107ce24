import type Database from 'better-sqlite3';
import type { ErrorKind } from '../../errors.ts';
import type { logins } from '../schema.ts';

/** A login that failed in a way that only a person can correct. */
export type LastingFailure = {
  readonly at: string;
  readonly error_kind: ErrorKind;
  readonly http_status: number | null;
  readonly error_message: string;
};

/** The last login of each run, from whose row SQLite takes what is beside the maximum. The run says why it failed. */
const LASTING = `SELECT max(logins.id), at, iif(logins.outcome = 'refused', 'credentials', error_kind) AS error_kind,
    http_status, logins.error_message
  FROM logins LEFT JOIN runs ON runs.id = logins.run_id
  WHERE logins.fingerprint = @of AND (logins.outcome = 'refused' OR error_kind = 'contract'
      OR (error_kind = 'status' AND http_status NOT IN (408, 429) AND http_status < 500))
    AND logins.id > coalesce((SELECT max(id) FROM logins WHERE fingerprint = @of AND outcome = 'ok'), 0)
  GROUP BY coalesce(run_id, -logins.id) ORDER BY 1 DESC`;

type NewLogin = Omit<typeof logins.$inferInsert, 'id'>;

const NO_DETAILS = {
  expires_at: null,
  clock_skew_ms: null,
  error_message: null,
  not_before: null,
  fingerprint: null,
  run_id: null,
};

const INSERT = `INSERT INTO logins (at, outcome, reason, expires_at, clock_skew_ms, error_message, not_before, fingerprint, run_id)
  VALUES (@at, @outcome, @reason, @expires_at, @clock_skew_ms, @error_message, @not_before, @fingerprint, @run_id)`;

export function createLoginRows(client: Database.Database) {
  const insert = client.prepare<[NewLogin]>(INSERT);
  return {
    add: (login: NewLogin): void => {
      insert.run({ ...NO_DETAILS, ...login });
    },
    /** The lasting failures with this fingerprint since the last login that was granted, newest first. */
    lastingFailures: (of: string): readonly LastingFailure[] =>
      client.prepare<[{ of: string }], LastingFailure>(LASTING).all({ of }),
  };
}

import type Database from 'better-sqlite3';
import type { runs } from '../schema.ts';
import { createUpdate } from './column-update.ts';

type Row = typeof runs.$inferSelect;
export type RunKind = Row['kind'];
export type Trigger = Row['trigger'];
export type RunScope = NonNullable<Row['scope']>;

/** The run that writes a row, and the timestamp of its writes. */
export type RunStamp = { readonly runId: number; readonly at: string };

type RunStart = Pick<Row, 'kind' | 'trigger' | 'scope' | 'started_at' | 'fingerprint' | 'program_version'> &
  Partial<Pick<Row, 'not_before' | 'quiet_fields'>>;
/** Omitted columns keep their value. */
export type RunEnd = Pick<Row, 'finished_at' | 'outcome'> & Partial<Omit<Row, 'duration_ms' | 'id'>>;

const IS_GOOD = "outcome IN ('changed', 'unchanged', 'held')";
/** The last good poll of the leagues. */
const LAST_GOOD = '(SELECT good_run_id FROM last_polls)';
/** Passes over the polls that failed since the last good one: there may be very many. */
const GOOD_POLL = `kind = 'leagues' AND ${IS_GOOD} AND id <= ${LAST_GOOD}`;
/** Limits searches that otherwise read all runs if there is nothing to find; more than a day, at a poll a second. */
const RECENT = 'id > (SELECT max(id) - 100000 FROM runs)';

const INSERT = `INSERT INTO runs (kind, trigger, scope, started_at, fingerprint, program_version, not_before, quiet_fields, outcome)
  VALUES (@kind, @trigger, @scope, @started_at, @fingerprint, @program_version, @not_before, @quiet_fields, 'running')`;

/** The poll that sent the newest validators stored before a run. Does not look behind the time `since`. */
const NEXT_AFTER_VALIDATORS = `SELECT attempts FROM runs WHERE ${GOOD_POLL} AND id > (
    SELECT id FROM runs WHERE ${GOOD_POLL} AND id < @before
      AND (etag IS NOT NULL OR last_modified IS NOT NULL OR finished_at <= @since)
    ORDER BY id DESC LIMIT 1)
  ORDER BY id LIMIT 1`;

export function createRunRows(client: Database.Database) {
  const insert = client.prepare<[RunStart]>(INSERT);
  const update = createUpdate<RunEnd>(client, 'runs', 'id = @id');
  const newest = (where: string) =>
    client.prepare<(string | null)[], Row>(`SELECT * FROM runs WHERE ${where} ORDER BY id DESC LIMIT 1`);
  const lastApplied = newest(`id = ${LAST_GOOD}`);
  const lastList = newest(`${GOOD_POLL} AND http_status IS NOT 304`);
  const attempts = client.prepare<[{ before: number; since: string }], number>(NEXT_AFTER_VALIDATORS).pluck();
  return {
    start: (start: RunStart): number =>
      Number(insert.run({ not_before: null, quiet_fields: null, ...start }).lastInsertRowid),
    finish: (id: number, end: RunEnd): void => update(end, { id }),
    /** Marks the `running` rows of a killed worker as interrupted; returns their number. */
    interruptRunning: (message: string): number => {
      const end = "outcome = 'interrupted', error_message = ?";
      return client.prepare(`UPDATE runs SET ${end} WHERE outcome = 'running' AND ${RECENT}`).run(message).changes;
    },
    lastProfile: () => newest(`kind = 'profile' AND ${IS_GOOD}`).get(),
    /** The last good poll of the leagues of this scope, unless it is long ago. */
    lastOfScope: (scope: RunScope) => newest(`${GOOD_POLL} AND scope = ? AND ${RECENT}`).get(scope),
    /** The last successful poll of the leagues; its status may be 304. */
    lastApplied: () => lastApplied.get(),
    /** The end of the last successful poll that received a list rather than status 304. */
    lastListAt: () => lastList.get()?.finished_at ?? undefined,
    /** Whether the poll that sent the last validators stored before a run, since a time, succeeded only without them. */
    conditionsFailed: (before: number, since: string) => Number(attempts.get({ before, since }) ?? 0) > 1,
    lastChangedAt: () => newest(`outcome IN ('changed', 'held') AND ${RECENT}`).get()?.finished_at ?? undefined,
    lastStartedAt: () => newest('TRUE').get()?.started_at,
    lastFinishedAt: () => newest('finished_at IS NOT NULL').get()?.finished_at ?? undefined,
    /** Stores the end of a Retry-After in the newest run with this fingerprint. */
    noteRetryAfter: (fingerprint: string, until: string): void => {
      const last = '(SELECT max(id) FROM runs WHERE fingerprint = ?)';
      client.prepare(`UPDATE runs SET not_before = ? WHERE id = ${last}`).run(until, fingerprint);
    },
    lastRetryAfter: (fingerprint: string) => selectLastRetryAfter(client, fingerprint),
  };
}

/** Only columns that every schema version has, so that `check` can read a database before its upgrade. */
const selectLast = (table: 'runs' | 'logins', at: string): string =>
  `SELECT not_before AS until, ${at} AS askedAt FROM ${table} WHERE (fingerprint = @of OR @of IS NULL)
    AND ${RECENT.replace('runs', table)} ORDER BY id DESC LIMIT 1`;

/** The Retry-After of the newest run, else login, of this fingerprint if given. By id: a clock may be set back. */
export function selectLastRetryAfter(client: Database.Database, of: string | null = null) {
  type Last = { readonly until: string | null; readonly askedAt: string };
  const select = (table: 'runs' | 'logins', at: string) =>
    client.prepare<[{ of: string | null }], Last>(selectLast(table, at)).get({ of });
  const { until = null, askedAt = '' } = select('runs', 'started_at') ?? select('logins', 'at') ?? {};
  return until === null ? undefined : { until, askedAt };
}

import { expect } from 'vitest';
import type { RunReport } from '../../../src/sync/report.ts';
import type { Row } from '../../support/database.ts';
import { printEverything } from '../../support/error-print.ts';
import { spellingsOf } from '../../support/secret-encodings.ts';
import { PASSWORD, USERNAME } from '../../support/worker-resources.ts';
import type { SweepBench, SwiftClock } from './bench.ts';
import { type ExpectedRun, loginOutcome, VISIT } from './expectation.ts';
import type { Fault } from './fault.ts';
import type { SweepService } from './service.ts';
import { everythingStored, stateOf, type VisitResult } from './state.ts';

export type Setting = { readonly service: SweepService; readonly bench: SweepBench; readonly clock: SwiftClock };
/** A request that meets a fault, and the result of the visit without it. */
export type Case = {
  readonly fault: Fault;
  readonly nth: number;
  readonly course: ExpectedRun;
  readonly to: VisitResult;
};

/** Tolerance of two clock readings in whole milliseconds. */
const SLACK_MS = 2;
/** Far more than the time between two checks, and far less than any Retry-After. */
const MOMENTS_MS = 30_000;
const SECRETS = [PASSWORD, `${USERNAME}:${PASSWORD}`, 'access-token-', 'refresh-token-'];
const SPELLINGS = SECRETS.flatMap((secret) => [...spellingsOf(secret)]);

/** The row of the last run, which must match its report. */
export function rowOf({ read }: SweepBench, report: RunReport): Row {
  const [row = {}] = read('SELECT * FROM runs ORDER BY id DESC LIMIT 1');
  const { kind, outcome, attempts, error, counts } = report;
  expect(row).toMatchObject({ kind, outcome, attempts, error_kind: error?.kind ?? null, ...counts });
  expect(row.error_message).toBe(error?.message ?? null);
  expect(String(row.finished_at) >= String(row.started_at)).toBe(true);
  return row;
}

/** Expects the requests, the report and the rows of the run that meets the fault. */
export async function meetFault({ bench, service, clock }: Setting, { fault, nth, course }: Case): Promise<void> {
  const { failure, attempts, steps } = course;
  const earlier = service.seen.length;
  const before = everythingStored(bench);
  const report = await (VISIT[nth - 1] === 'profile' ? bench.pollProfile() : bench.poll());
  const row = rowOf(bench, report);
  const told =
    failure === undefined ? { outcome: 'changed', error_kind: null } : { outcome: 'failed', error_kind: failure.kind };
  expect(row).toMatchObject({ ...told, attempts, http_status: failure === undefined ? 200 : failure.status });
  expectSeen(service.seen.slice(earlier), fault, course);
  if (failure !== undefined) expect(everythingStored(bench)).toEqual(before);
  const pauseMs = row.not_before === null ? 0 : Date.parse(String(row.not_before)) - clock.now();
  expect(Math.abs(pauseMs - (fault.pauseMs ?? 0))).toBeLessThan(MOMENTS_MS);
  await bench.flush();
  const logins = steps.filter(({ kind }) => kind === 'login').map((step) => loginOutcome(step, fault));
  const rows = bench.read(`SELECT outcome FROM logins ORDER BY id DESC LIMIT ${logins.length}`);
  expect(rows.map(({ outcome }) => outcome).toReversed()).toEqual(logins);
}

/** The requests that the service received: none if it did not listen, `unknown` if it did not read them. */
function expectSeen(seen: SweepService['seen'], fault: Fault, { steps }: ExpectedRun): void {
  const reached = steps.filter(({ hit }) => !(hit && fault.refuses));
  const read = reached.map(({ kind, hit }) => (hit && fault.atAccept ? 'unknown' : kind));
  expect(seen.map(({ kind }) => kind)).toEqual(read);
  const waits = seen.slice(1).flatMap(({ at }, index) => (steps[index]?.hit ? [at - Number(seen[index]?.at)] : []));
  expect(Math.min(...waits, MOMENTS_MS)).toBeGreaterThanOrEqual((fault.spacingMs ?? 0) - SLACK_MS);
}

/** Expects an intact database in one of the allowed states. */
export function expectSound(bench: SweepBench, ...allowed: readonly VisitResult[]): void {
  expect(bench.read('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(bench.read('PRAGMA foreign_key_check')).toEqual([]);
  expect(bench.read("SELECT id FROM runs WHERE outcome = 'running'")).toEqual([]);
  const { leagues, feed, players } = stateOf(bench);
  expect(allowed.map(({ state }) => ({ leagues: state.leagues, feed: state.feed }))).toContainEqual({ leagues, feed });
  expect(allowed.map(({ state }) => state.players)).toContainEqual(players);
}

/** Expects no secret in the log, in the rows of runs and logins, or in an error with its causes. */
export function expectDiscreet({ read, log, errors }: SweepBench): void {
  const told = JSON.stringify([log, read('SELECT * FROM runs'), read('SELECT * FROM logins')]);
  const printed = [...new Set(errors)].map(printEverything);
  expect([told, ...printed].flatMap((text) => SPELLINGS.filter((secret) => text.includes(secret)))).toEqual([]);
}

import { copyFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execute } from '../../support/database.ts';
import { type Folder, makeFolder } from '../../support/folder.ts';
import { openPort, type Port } from '../../support/port.ts';
import { createSwiftClock, openSweepBench } from './bench.ts';
import { type Case, expectDiscreet, expectSound, meetFault, rowOf, type Setting } from './check.ts';
import { faultScopesOf, planExpectedRun, VISIT } from './expectation.ts';
import type { Fault } from './fault.ts';
import { listFaults } from './faults.ts';
import { startSweepService } from './service.ts';
import { LISTS, stateOf, TO_NEW, type VisitResult, visit } from './state.ts';

/** For attempts that must time out; all others have far more time than they need. */
const LITTLE_MS = 300;
const PLENTY_MS = 30_000;
const MAX_BODY_BYTES = 100_000;
const REFUSAL_MS = 60_000;

const folder = makeFolder();
const legs: VisitResult[] = [];
let otherHost: Port;

async function withWorker(own: Folder, check: (setting: Setting) => Promise<void>): Promise<void> {
  const clock = createSwiftClock(() => service.waited(), PLENTY_MS);
  await using service = await startSweepService(LISTS, clock.now);
  const attemptTimeoutMs = () => (service.hangs() ? LITTLE_MS : PLENTY_MS);
  const limits = { attemptTimeoutMs, maxBodyBytes: MAX_BODY_BYTES, runTimeoutMs: PLENTY_MS };
  await using bench = await openSweepBench({ folder: own, url: service.url, clock, ...limits });
  await check({ service, bench, clock });
}

/** A worker whose database holds the old lists. */
async function withHistory(check: (setting: Setting) => Promise<void>): Promise<void> {
  using own = makeFolder();
  copyFileSync(folder.file('leagues.db'), own.file('leagues.db'));
  // Its service has another port.
  execute(own.file('leagues.db'), 'UPDATE database_identity SET base_url = NULL');
  await withWorker(own, check);
}

beforeAll(async () => {
  otherHost = await openPort(createServer((socket) => socket.destroy()));
  await withWorker(folder, async ({ bench, service }) => {
    legs.push(await visit(bench));
    expect(service.seen.map(({ kind }) => kind)).toEqual([...VISIT, 'leagues']);
  });
  await withHistory(async ({ bench, service }) => {
    for (let turn = 0; turn < 3; turn += 1) {
      service.turn();
      legs.push(await visit(bench));
    }
  });
  expect(legs[1]?.counts).toMatchObject(TO_NEW);
});
afterAll(async () => {
  folder[Symbol.dispose]();
  await otherHost[Symbol.asyncDispose]();
});

/** Whether only the profile is in backoff: it rejected fresh tokens that the leagues accept. */
function isBarred({ course: { failure, steps } }: Case): boolean {
  return failure?.kind === 'credentials' && steps.at(-1)?.kind === 'profile';
}

/** Whether nothing is sent for a minute, because of the credentials or of a login that another server answered. */
function backsOff({ course: { failure, steps } }: Case): boolean {
  return failure?.kind === 'credentials' || (failure?.is === 'fails' && steps.at(-1)?.kind === 'login');
}

/** Expects that nothing is sent until the end of the backoff or the `Retry-After`. */
async function waitAsAsked({ bench, service, clock }: Setting, tried: Case): Promise<void> {
  const { fault, course } = tried;
  const { failure } = course;
  const isBackingOff = backsOff(tried);
  const waitMs = isBackingOff ? REFUSAL_MS : fault.pauseMs;
  if (failure === undefined || waitMs === undefined) return;
  // A run with enough time would wait for the end of a Retry-After itself.
  const restMs = isBackingOff ? PLENTY_MS / 2 : 2 * PLENTY_MS;
  for (const ms of [waitMs - restMs, restMs]) {
    expect(rowOf(bench, await (isBarred(tried) ? bench.pollProfile() : bench.poll()))).toMatchObject({
      outcome: 'failed',
      error_kind: failure.kind,
      attempts: 0,
    });
    clock.skip(ms);
  }
  expect(service.seen).toEqual([]);
}

/** Expects that the next visit to the healthy service leaves the same state as without a fault. */
async function recover(setting: Setting, tried: Case): Promise<void> {
  const { bench, service } = setting;
  const { fault, nth, course, to } = tried;
  await service.recover();
  await waitAsAsked(setting, tried);
  const [failed, profile] = [course.failure !== undefined, VISIT[nth - 1] === 'profile'];
  const told = (late: boolean) => (late ? { outcome: 'changed', ...to.counts } : { outcome: 'unchanged', ...to.again });
  expect(rowOf(bench, await bench.poll())).toMatchObject({
    ...told(failed && !profile),
    error_kind: null,
    not_before: null,
  });
  const { outcome } = rowOf(bench, await bench.pollProfile());
  expect(outcome).toBe(failed || !profile ? 'changed' : 'unchanged');
  const tokenless = failed && (VISIT[nth - 1] === 'login' || course.failure?.kind === 'credentials');
  const replaced = fault.revokes ? ['leagues', ...VISIT] : ['leagues', 'login', 'profile'];
  // A token that gets `result=fail` is kept, and these faults revoke it.
  const isKept = course.failure?.is === 'rejected' && course.failure.kind === 'status';
  const usual = isKept ? (['leagues', ...VISIT] as const) : VISIT.slice(1);
  const sent = isBarred(tried) ? replaced : tokenless ? VISIT : usual;
  expect(service.seen.map(({ kind }) => kind)).toEqual(sent);
  const { drift, ...state } = stateOf(bench);
  const { drift: known, ...wanted } = to.state;
  expect(state).toEqual(wanted);
  expect(drift).toEqual([...known, ...(fault.drift ?? [])].toSorted());
}

async function sweep(setting: Setting, fault: Fault, nth: number): Promise<void> {
  const { bench, service } = setting;
  for (const [turn, faultScope] of faultScopesOf(fault, nth).entries()) {
    const [from, to] = legs.slice(turn, turn + 2);
    if (from === undefined || to === undefined) throw new Error('there are more reaches than turns');
    const tried = { fault, nth, course: planExpectedRun(fault, nth, faultScope), to };
    bench.begin();
    service.turn();
    await service.arm(fault, nth, faultScope);
    if (VISIT[nth - 1] === 'profile')
      expect(await bench.poll()).toMatchObject({ outcome: 'changed', counts: to.counts });
    await meetFault(setting, tried);
    expectSound(bench, from, to);
    await recover(setting, tried);
    await bench.flush();
    expectSound(bench, to);
  }
  expectDiscreet(bench);
}

const FAULTS = listFaults(() => `http://127.0.0.1:${otherHost.port}`);

/**
 * Timeouts and closed ports may be disturbed, by a machine that stalls or another program at that port, but hardly
 * three times in a row.
 */
const isDelicate = ({ hangs, refuses }: Fault): boolean => hangs === true || refuses === true;

describe.concurrent.each(VISIT.map((kind, index) => [kind, index + 1] as const))(
  'a visit leaves the old or the new, tells the truth and is made up for by the next, where its %s request',
  (kind, nth) => {
    const name = '%s, once and for ever';
    const met = FAULTS.filter(({ effects }) => effects[kind] !== undefined).map(
      (fault) => [fault.name, fault] as const,
    );
    const run = (_: string, fault: Fault) => withHistory((setting) => sweep(setting, fault, nth));
    it.each(met.filter(([, fault]) => !isDelicate(fault)))(name, run);
    it.each(met.filter(([, fault]) => isDelicate(fault)))(name, { retry: 2 }, run);
  },
);

it('no redirect was followed to another origin', () => {
  expect(otherHost.connections()).toBe(0);
});

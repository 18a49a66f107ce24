import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import { makeLeagues } from '../support/leagues.ts';
import { eventually, type RunningProgram } from '../support/program.ts';
import { expectCleanStop } from '../support/stopping.ts';
import { type Delivered, startReceiver } from '../support/webhook-receiver.ts';

const LEAGUES = 2_000;
const POLLS = 25;
const CHANGES = LEAGUES * POLLS;
const MAX_CHANGES = 100;
const LONGEST_MS = 120_000;
/** Generous: how much a process grows by itself differs between machines. */
const MOST_GROWTH_MB = 60;

const skip = existsSync('/proc/self/status') ? false : 'memory is read from /proc, which this system has not';

function residentMb({ pid }: RunningProgram): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

/** Changes every league. */
async function poll(worker: RunningProgram, { simulator }: SimulatedBench, priority: number): Promise<void> {
  simulator.setLeagues(makeLeagues(LEAGUES, { priority }));
  worker.send('SIGHUP');
  await worker.waitForPoll('changed');
}

const ofChanges = (seen: readonly Delivered[]) => seen.filter(({ type }) => type === 'leagues.changed');
const lastSeq = (seen: readonly Delivered[]): number => seen.at(-1)?.data.to_seq ?? 0;

it(`a receiver that was down for ${CHANGES} changes gets them in order, in small messages, from a worker that does not grow`, async ({
  skip: leaveOut,
}) => {
  if (skip !== false) return leaveOut(skip);
  const receiver = await startReceiver({ status: 503 });
  const bench = await setUp({ leagues: makeLeagues(LEAGUES, { priority: 1 }) });
  const worker = bench.start(['run'], receiver.env);
  await worker.waitForPoll('changed');
  for (let nth = 2; nth <= POLLS; nth += 1) await poll(worker, bench, nth);
  const startedMb = residentMb(worker);
  const from = receiver.seen.length;
  receiver.script({ status: 204 });
  const begun = performance.now();
  worker.send('SIGHUP');
  let most = startedMb;
  await eventually(
    'everything arrives',
    () => {
      most = Math.max(most, residentMb(worker));
      return lastSeq(receiver.seen) === CHANGES;
    },
    LONGEST_MS,
  );
  const seconds = (performance.now() - begun) / 1_000;
  const messages = ofChanges(receiver.seen.slice(from));
  console.info(
    `${messages.length} messages in ${seconds.toFixed(1)} s; resident ${startedMb.toFixed(0)} MB before, ${most.toFixed(0)} MB at most`,
  );
  let seq = 0;
  for (const { data } of messages) {
    expect(data.from_seq).toBe(seq + 1);
    expect(Number(data.to_seq) - seq).toBeLessThanOrEqual(MAX_CHANGES);
    seq = Number(data.to_seq);
  }
  expect(messages).toHaveLength(CHANGES / MAX_CHANGES);
  expect(most - startedMb).toBeLessThan(MOST_GROWTH_MB);
  await expectCleanStop(bench, worker);
});

import { setTimeout as rest } from 'node:timers/promises';
import { expect } from 'vitest';
import { createRandom, pickIndex, type Random } from '../../../src/simulator/churn.ts';
import { type Bench, setUpFor } from '../../support/bench.ts';
import { type Row, withDatabase } from '../../support/database.ts';
import type { RunningProgram } from '../../support/program.ts';
import { type Feed, startFeed } from './feed.ts';
import { judgeAttempts, judgeContents } from './judge.ts';
import { type Receiver, SECRET, startReceiver } from './receiver.ts';

export type Kills = {
  readonly seed: number;
  readonly kills: number;
};

export type Outcome = {
  readonly kills: number;
  readonly changes: number;
  readonly messages: number;
  readonly attempts: number;
  /** Messages that a receiver accepted, but whose sender was killed before it noted that. */
  readonly repeatedAfterKill: number;
  readonly conducts: Readonly<Record<string, number>>;
  readonly types: Readonly<Record<string, number>>;
};

type Setup = {
  readonly bench: Bench;
  readonly feed: Feed;
  readonly receiver: Receiver;
  readonly random: Random;
};

/** What a kill waits for, to hit just after it. */
const AIMS = ['time', 'request', 'answer', 'poll'] as const;
const LONGEST_WAIT_MS = 1_500;
const LONGEST_START_MS = 500;
const MOST_HANGUPS = 5;
const LONGEST_PAUSE_MS = 150;
/** Reading a large file after every kill would take most of the time. */
const KILLS_PER_CHECK = 10;
const LONGEST_DRAIN_MS = 60_000;
/** The first wait after a failed attempt. */
const RETRY_MS = 5_000;

/** Kills workers that deliver to a failing receiver, lets the last one finish, and judges everything that arrived. */
export async function killDeliveries({ seed, kills }: Kills): Promise<Outcome> {
  const random = createRandom(seed);
  const [feed, receiver] = [await startFeed(random), await startReceiver(random)];
  const bench = setUpFor(feed.url);
  const setup = { bench, feed, receiver, random };
  for (let done = 1; done <= kills; done += 1) {
    await killOnce(setup);
    if (done % KILLS_PER_CHECK === 0) checkDatabase(setup);
  }
  await finish(setup);
  const judgement = judgeAttempts(receiver.attempts);
  const { messages, conducts, repeatedAfterKill, problems } = judgement;
  const { stdout } = await bench.runProcess(['changes', '--since', '0', '--json']);
  const lines = stdout.split('\n').filter((line) => line !== '');
  expect([...problems, ...judgeContents(messages, lines)], `TEST_SEED=${seed}`).toEqual([]);
  expect(new Set(messages.map(({ data }) => data.source)).size).toBe(1);
  return {
    kills,
    changes: lines.length,
    messages: messages.length,
    attempts: receiver.attempts.length,
    repeatedAfterKill,
    conducts: Object.fromEntries(conducts),
    types: countBy(messages.map(({ type }) => type)),
  };
}

function countBy(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...new Set(names)].map((name) => [name, names.filter((one) => one === name).length]));
}

function start({ bench, receiver }: Setup): RunningProgram {
  receiver.nextLife();
  return bench.start(['run'], { LEAGUE_SYNC_WEBHOOK_URL: receiver.url, LEAGUE_SYNC_WEBHOOK_SECRET: SECRET });
}

async function killOnce(setup: Setup): Promise<void> {
  const { random, feed, receiver } = setup;
  const begun = { attempts: receiver.attempts.length, at: performance.now() };
  const program = start(setup);
  // A quarter of the kills hit a worker that is starting.
  const aim = AIMS[pickIndex(AIMS.length, random)];
  const hangups = aim === 'time' ? 0 : await hangUp(program, setup, pickIndex(MOST_HANGUPS + 1, random));
  if (aim === 'time') await rest(random() * LONGEST_START_MS);
  if (aim === 'request') await soon(receiver.attempts.length, () => receiver.attempts.length);
  if (aim === 'answer') await soon(receiver.answers(), receiver.answers);
  if (aim === 'poll') await soon(feed.seen.length, () => feed.seen.length);
  // Some of these are between an answer and the transaction that notes it.
  if (aim !== 'time') await rest(random() * (aim === 'poll' ? 40 : 4));
  const { signal } = await program.stop('SIGKILL');
  expect(signal).toBe('SIGKILL');
  expectPatience(setup, begun, hangups);
}

/** Every hangup polls, and tries again at once what has failed. */
async function hangUp(program: RunningProgram, { random }: Setup, count: number): Promise<number> {
  await program.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
  for (let index = 0; index < count; index += 1) {
    program.send('SIGHUP');
    await rest(random() * LONGEST_PAUSE_MS);
  }
  program.send('SIGHUP');
  return count + 1;
}

/** Waits until the count grows, but not for ever: it may have grown already, or never will. */
async function soon(before: number, count: () => number): Promise<void> {
  for (const giveUpAt = performance.now() + LONGEST_WAIT_MS; performance.now() < giveUpAt; await rest(1))
    if (count() > before) return;
}

/** A failed message may be tried again after a start, a hangup or a wait, and at no other time. */
function expectPatience(
  { receiver }: Setup,
  begun: { readonly attempts: number; readonly at: number },
  hangups: number,
): void {
  const made = receiver.attempts.slice(begun.attempts);
  const next = new Set(made.map(({ id }) => id)).size;
  const waited = Math.floor((performance.now() - begun.at) / RETRY_MS);
  expect(made.length, 'attempts of one process').toBeLessThanOrEqual(1 + next + hangups + waited);
}

/** After a kill: the file is sound, and nothing counts as accepted that has not arrived. */
function checkDatabase({ bench, receiver }: Setup): void {
  expect(read(bench, 'PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
  const seq = Number(read(bench, 'SELECT accepted_seq FROM webhook').accepted_seq ?? 0);
  const hasArrived = receiver.attempts.some(({ body }) => body?.includes(`"to_seq":${seq},`));
  expect(seq === 0 || hasArrived, `${seq} counts as accepted`).toBe(true);
}

/** Without the write permission that would let it empty the log. */
function read({ database }: Bench, sql: string): Row {
  return withDatabase(database, (db) => db.prepare<[], Row>(sql).get(), { readonly: true }) ?? {};
}

/** The last worker delivers all that is left, and stops cleanly. */
async function finish(setup: Setup): Promise<void> {
  const { bench, feed, receiver } = setup;
  feed.calm();
  receiver.calm();
  const program = start(setup);
  await program.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
  program.send('SIGHUP');
  await program.waitForPoll();
  const left = `SELECT message_id, (SELECT max(seq) FROM league_changes) - accepted_seq AS pending FROM webhook`;
  const giveUpAt = performance.now() + LONGEST_DRAIN_MS;
  for (;;) {
    const { message_id, pending } = read(bench, left);
    if (message_id === null && pending === 0) break;
    if (performance.now() > giveUpAt) throw new Error(`${pending} changes did not arrive`);
    await rest(100);
    program.send('SIGHUP');
    await program.waitForPoll();
  }
  expect(await program.stop()).toMatchObject({ code: 0 });
  expect(read(bench, 'PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
}

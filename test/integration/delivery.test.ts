import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoppedError } from '../../src/errors.ts';
import type { WorkerEvent } from '../../src/events.ts';
import { formatTimestamp, systemClock } from '../../src/time/clock.ts';
import { type Delivery, openDelivery } from '../../src/webhook/delivery.ts';
import { moveDeliveries, retryDelivery } from '../../src/webhook/replay.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { execute, readRows } from '../support/database.ts';
import { HOUR, MINUTE } from '../support/durations.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import { createTestLog } from '../support/log-lines.ts';
import { openTestStore } from '../support/store.ts';
import { type Answer, type Receiver, SECRET, startReceiver } from '../support/webhook-receiver.ts';

const KEY = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
const RECENT = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

const SOON = { interval: 2, timeout: 5_000 };

let folder: Folder;
let path = '';
let receiver: Receiver;
let clock: TestClock;
let stops: (() => Promise<void>)[] = [];

beforeEach(async () => {
  folder = makeFolder();
  path = folder.file('leagues.db');
  receiver = await startReceiver();
  // The state `stale` is by the real clock in the view, and by this one in the delivery.
  clock = createTestClock(Date.now());
  stops = [];
  await (await openTestStore(path))[Symbol.asyncDispose]();
  execute(path, goodPoll('+100 days'));
});
afterEach(async () => {
  for (const stop of stops) await stop();
  folder[Symbol.dispose]();
});

function goodPoll(staleIn: string): string {
  return `INSERT INTO runs (kind, trigger, scope, started_at, finished_at, outcome, stale_at) VALUES
    ('leagues', 'schedule', 'all', ${RECENT}, ${RECENT}, 'unchanged', strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '${staleIn}'));`;
}

function login(outcome: 'ok' | 'refused' | 'failed'): string {
  return `INSERT INTO logins (at, outcome, reason) VALUES (${RECENT}, '${outcome}', 'due');`;
}

const ACCEPTED_REMOVAL = `INSERT INTO held_removals (league_id, first_run_id, held_since, accepted_at)
  VALUES ('l0', 1, ${RECENT}, ${RECENT});`;

function addChanges(count: number): void {
  const rows = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  execute(
    path,
    `INSERT INTO league_changes (run_id, at, league_id, kind, after)
    ${rows} SELECT 1, ${RECENT}, 'l' || i, 'added', '{"league_name":"League ' || i || '"}' FROM n;`,
  );
}

type Started = Awaited<ReturnType<typeof start>>;
type StartOptions = { readonly url?: string | (() => string); readonly random?: () => number };

async function start({ url = receiver.url, random = () => 0 }: StartOptions = {}) {
  const store = await openTestStore(path);
  const { log, lines } = createTestLog();
  const events: WorkerEvent[] = [];
  const source = () => ({ url: new URL(typeof url === 'string' ? url : url()), keys: [KEY], proxy: undefined });
  const stopped = new AbortController();
  const isStale = () => {
    const { stale_at } = store.read(store.freshness);
    return stale_at === null || Date.parse(stale_at) <= clock.now();
  };
  const emit = (event: WorkerEvent): unknown => events.push(event);
  const delivery = await openDelivery({ store, source, clock, isStale, random, log, emit }, stopped.signal);
  const delivering = delivery?.deliver(stopped.signal);
  const stop = async (): Promise<void> => {
    if (stopped.signal.aborted) return;
    stopped.abort(new StoppedError());
    await delivering;
    await store[Symbol.asyncDispose]();
  };
  stops.push(stop);
  return { delivery: delivery as Delivery, store, lines, events, stop };
}

/** Moves the clock by at most a second at a time, until the receiver got this many messages. */
async function waitForMessages(count: number): Promise<void> {
  await expect
    .poll(
      async () => {
        await clock.advance(100);
        return receiver.seen.length;
      },
      { interval: 2, timeout: 10_000 },
    )
    .toBeGreaterThanOrEqual(count);
}

/** Starts, and waits until the receiver got the message about one change. */
async function startWithChange(options?: StartOptions): Promise<Started> {
  const started = await start(options);
  addChanges(1);
  await waitForMessages(1);
  return started;
}

/** Lets the delivery look around for a while. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    await clock.advance(200);
    await systemClock.sleep(2);
  }
}

const rowOf = () => readRows(path, "SELECT webhook.*, outputs.* FROM webhook LEFT JOIN outputs ON name = 'webhook'")[0];

describe('deliveries', () => {
  it('begin behind the last change that is there at the first start, and go on from there later', async () => {
    addChanges(2);
    const first = await start();
    addChanges(3);
    await waitForMessages(1);
    expect(receiver.told()).toEqual(['leagues.changed 3-5']);
    expect(receiver.seen[0]?.path).toContain('path-of-scripted-receivers?token=query-of');
    await expect.poll(() => rowOf()?.accepted_seq, SOON).toBe(5);
    await first.stop();
    addChanges(1);
    await start();
    await waitForMessages(2);
    expect(receiver.told()[1]).toBe('leagues.changed 6-6');
  });

  it('bring the changes in messages of at most 100, in order and without a gap', async () => {
    await start();
    addChanges(250);
    await waitForMessages(3);
    expect(receiver.told()).toEqual(['leagues.changed 1-100', 'leagues.changed 101-200', 'leagues.changed 201-250']);
    expect(receiver.seen.flatMap(({ data }) => data.changes.map(({ seq }: { seq: number }) => seq))).toEqual(
      Array.from({ length: 250 }, (_, index) => index + 1),
    );
    const [source] = readRows(path, 'SELECT id FROM database_identity');
    expect(receiver.seen[0]?.data.source).toBe(source?.id);
    await expect.poll(rowOf, SOON).toMatchObject({ message_id: null, message_body: null, failed_attempts: 0 });
  });

  it('are repeated after growing waits, with the same id and bytes', async () => {
    receiver.script(500);
    const { lines, events } = await startWithChange({ random: () => 0.5 });
    const waits = [5_000, 5 * MINUTE].map((ms) => ms * 1.05);
    for (const [index, wait] of waits.entries()) {
      await expect.poll(() => rowOf()?.failed_attempts, SOON).toBe(index + 1);
      expect(Date.parse(String(rowOf()?.next_attempt_at)) - clock.now()).toBeGreaterThan(wait - 500);
      // The database is read every second: minutes are skipped while the delivery sleeps for one.
      await skip(wait - 1_100);
      expect(receiver.seen).toHaveLength(index + 1);
      await waitForMessages(index + 2);
    }
    receiver.script(204);
    await skip(32 * MINUTE);
    await expect.poll(() => rowOf()?.accepted_seq, SOON).toBe(1);
    expect(new Set(receiver.seen.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
    expect(lines.map(({ level }) => level)).toEqual(['warn', ...waits.map(() => 'info'), 'debug', 'info']);
    expect(lines[0]?.msg).toMatch(/^the webhook at 127\.0\.0\.1:\d+ failed: status 500; next attempt in 5\.3 s$/);
    expect(lines.at(-1)?.msg).toMatch(/ works again; recovered after 3 failed attempts in /);
    const outcomes = events.map((event) => 'outcome' in event && event.outcome);
    expect(outcomes).toEqual(['failed', 'failed', 'failed', 'accepted']);
  });

  it('never undercut a Retry-After, not even at a start or after SIGHUP', async () => {
    receiver.script({ status: 429, headers: { 'retry-after': '600' } }, 204);
    const first = await startWithChange();
    await expect.poll(() => rowOf()?.not_before, SOON).not.toBeNull();
    first.delivery.retryNow();
    expect(await retryDelivery(path, { clock, stop: new AbortController().signal })).toBe(false);
    expect(rowOf()?.next_attempt_at).not.toBeNull();
    await settle();
    await first.stop();
    const second = await start();
    second.delivery.retryNow();
    await skip(9 * MINUTE);
    expect(receiver.seen).toHaveLength(1);
    await skip(MINUTE);
    await expect.poll(rowOf, SOON).toMatchObject({ accepted_seq: 1, not_before: null });
  });

  it.each<[string, Answer]>([
    [
      'a body that is cut',
      (response) => void response.writeHead(200, { 'content-length': 10 }).write('x', () => response.destroy()),
    ],
    ['a body that never ends', (response) => void response.writeHead(200).write('x'.repeat(100_000))],
    ['a body that says no', { status: 202, body: '{"error":"no"}' }],
  ])('are accepted by a 2xx with %s', async (_, reply) => {
    receiver.script(reply);
    await startWithChange();
    await expect.poll(() => rowOf()?.accepted_seq, SOON).toBe(1);
  });
});

/** Moves the clock far, in steps that the delivery keeps up with. */
async function skip(ms: number): Promise<void> {
  clock.step(0);
  await clock.advance(ms);
  await systemClock.sleep(5);
}

describe('a receiver that answers 410', () => {
  it('gets nothing more, also after a restart, until its URL changes', async () => {
    receiver.script(410, { status: 429, headers: { 'retry-after': '3600' } }, 204);
    const first = await startWithChange();
    await expect.poll(() => rowOf()?.stopped_at, SOON).not.toBeNull();
    expect(first.lines.at(-1)).toMatchObject({ level: 'warn', msg: expect.stringContaining('answered 410 (Gone)') });
    first.delivery.retryNow();
    await skip(10 * MINUTE);
    await first.stop();
    let url = receiver.url;
    await start({ url: () => url });
    addChanges(1);
    await skip(10 * MINUTE);
    expect(receiver.seen).toHaveLength(1);
    // Nor does a Retry-After outlast its URL.
    for (const seen of [2, 4]) {
      url += '&new=1';
      await waitForMessages(seen);
    }
    expect(receiver.told()).toEqual([...Array(3).fill('leagues.changed 1-1'), 'leagues.changed 2-2']);
    expect(receiver.seen[1]?.id).toBe(receiver.seen[0]?.id);
    expect(rowOf()?.label).toBe(new URL(url).host);
  });

  it('is warned of again when it answers 410 again after a replay', async () => {
    receiver.script(410);
    const { lines } = await startWithChange();
    await expect.poll(() => rowOf()?.stopped_at, SOON).not.toBeNull();
    await moveDeliveries(path, 0, { clock: systemClock, stop: new AbortController().signal });
    await waitForMessages(2);
    await expect.poll(() => rowOf()?.stopped_at, SOON).not.toBeNull();
    const levels = lines.filter(({ msg }) => msg.includes('answered 410 (Gone)')).map(({ level }) => level);
    expect(levels).toEqual(['warn', 'warn']);
  });
});

describe('states', () => {
  it('are told once for each change, before changes', async () => {
    await start();
    execute(path, login('refused') + ACCEPTED_REMOVAL);
    addChanges(1);
    await waitForMessages(2);
    expect(receiver.told()).toEqual(['credentials.refused', 'leagues.changed 1-1']);
    expect(receiver.seen[0]?.data).toMatchObject({
      since: expect.any(String),
      summary: 'The service refused the login.',
      what_to_do: expect.stringContaining('LEAGUE_SYNC_USERNAME'),
    });
    execute(path, login('refused') + login('failed'));
    await settle();
    expect(receiver.seen).toHaveLength(2);
    execute(path, login('ok'));
    await waitForMessages(3);
    expect(receiver.told()[2]).toBe('credentials.accepted');
  });

  it('are not told if they hold at the first start, nor their end, and told if they changed while no worker ran', async () => {
    execute(path, login('refused') + goodPoll('-1 hour'));
    const first = await start();
    await settle();
    expect(receiver.seen).toEqual([]);
    await first.stop();
    // Nor is their end, since they were not told.
    execute(path, login('ok') + goodPoll('+1 day'));
    const second = await start();
    await settle();
    await second.stop();
    expect(receiver.seen).toEqual([]);
    execute(path, login('refused') + goodPoll('-1 hour'));
    await start();
    await waitForMessages(2);
    expect(receiver.told()).toEqual(['data.stale', 'credentials.refused']);
  });

  it('are dropped if they changed back before they were accepted, and what holds now is told if they were sent', async () => {
    receiver.script(500, 204);
    let url = 'http://127.0.0.1:1/';
    await start({ url: () => url });
    execute(path, goodPoll('-1 hour'));
    const unsent = { announced_stale: 0, last_error: 'ECONNREFUSED' };
    await expect.poll(() => settle().then(rowOf), SOON).toMatchObject(unsent);
    url = receiver.url;
    await waitForMessages(1);
    execute(path, goodPoll('+1 day'));
    addChanges(1);
    await waitForMessages(3);
    await settle();
    expect(receiver.told()).toEqual(['data.stale', 'data.fresh', 'leagues.changed 1-1']);
    expect(rowOf()).toMatchObject({ announced_stale: 0, message_id: null });
  });

  it('are told to have ended if they were sent, although what was sent was skipped meanwhile', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    receiver.script((response) => void promise.then(() => response.writeHead(204).end()), 204);
    await start();
    execute(path, goodPoll('-1 hour'));
    await waitForMessages(1);
    await moveDeliveries(path, 'end', { clock, stop: new AbortController().signal });
    resolve();
    await expect.poll(() => rowOf()?.announced_stale, SOON).toBe(1);
    execute(path, goodPoll('+1 day'));
    await waitForMessages(2);
    expect(receiver.told()).toEqual(['data.stale', 'data.fresh']);
  });

  it('wait for a message in flight', async () => {
    receiver.script(500, 204);
    await startWithChange();
    await expect.poll(() => rowOf()?.failed_attempts, SOON).toBe(1);
    execute(path, login('refused'));
    addChanges(1);
    await waitForMessages(4);
    expect(receiver.told()).toEqual([
      'leagues.changed 1-1',
      'leagues.changed 1-1',
      'credentials.refused',
      'leagues.changed 2-2',
    ]);
  });
});

describe('what becomes of the row', () => {
  it('without a webhook: nothing is made, and nothing counts as pending any more', async () => {
    await (await start()).stop();
    const store = await openTestStore(path);
    store.outputs.keepOnly([]);
    await store[Symbol.asyncDispose]();
    addChanges(1);
    execute(path, "UPDATE webhook SET moved_at = '2026-01-01T00:00:00.000Z';");
    expect(readRows(path, "SELECT * FROM attention WHERE what = 'webhook'")).toEqual([]);
    expect(rowOf()).toMatchObject({ name: null, accepted_seq: 0 });
    await start();
    await waitForMessages(1);
  });

  it('knows of no success at an address that is new, and still how far the receiver is', async () => {
    const first = await startWithChange();
    await expect.poll(() => rowOf()?.done_at, SOON).not.toBeNull();
    await first.stop();
    await clock.advance(HOUR);
    const now = formatTimestamp(clock.now());
    await start({ url: `${receiver.url}&new` });
    // The hour in which nothing was accepted begins with the address (see the view `attention`).
    expect(rowOf()).toMatchObject({ accepted_seq: 1, seq: 1, done_at: null, moved_at: now });
  });

  it('keeps an acceptance in memory while the database cannot be written, repeats nothing, and stores it at a stop', async () => {
    const { store, stop, lines } = await start();
    const write = store.write;
    let refused = 0;
    const refuse = (): unknown =>
      Object.assign(store, {
        write: () => {
          refused += 1;
          return Promise.reject(new Error('disk full'));
        },
      });
    const waitForRefusals = (count: number) =>
      expect
        .poll(async () => {
          await clock.advance(1_000);
          return refused;
        })
        .toBeGreaterThan(count);
    receiver.script((response) => {
      refuse();
      response.writeHead(204).end();
    });
    refuse();
    addChanges(1);
    await waitForRefusals(1);
    Object.assign(store, { write });
    await waitForMessages(1);
    await waitForRefusals(refused + 2);
    Object.assign(store, { write });
    await stop();
    // Each time is told once.
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(2);
    expect(receiver.seen).toHaveLength(1);
    expect(rowOf()).toMatchObject({ accepted_seq: 1, message_id: null });
  });
});

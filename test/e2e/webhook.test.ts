import { describe, expect, it } from 'vitest';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import { serveHere } from '../support/status-server.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

type Setting = Readonly<Record<string, string>>;

/** A worker that has sent the first list of leagues. */
async function setUpSent(): Promise<{ bench: SimulatedBench; receiver: Receiver; settings: Setting }> {
  const [bench, receiver] = await Promise.all([setUp(), startReceiver()]);
  const settings = receiver.env;
  const worker = bench.startWorker(settings);
  await expect.poll(() => bench.rows('SELECT accepted_seq FROM webhook')[0]?.accepted_seq, SLOW).toBe(124);
  await worker.stop();
  return { bench, receiver, settings };
}

/** What every message says of the database. */
const ORIGIN = 'SELECT id AS source, last_success_at AS as_of, stale_at FROM database_identity, freshness';
const SLOW = { interval: 20, timeout: 30_000 };

it('a worker sends the first list, and says in status what was accepted', async () => {
  const { bench, receiver, settings } = await setUpSent();
  expect(receiver.told()[0]).toMatch(/^leagues\.changed 1-/);
  expect(receiver.seen[0]?.data).toMatchObject(bench.rows(ORIGIN)[0] ?? {});
  const changes = receiver.seen.flatMap(({ data }) => data.changes ?? []);
  expect(changes.map(({ seq }) => seq)).toEqual(Array.from({ length: 124 }, (_, index) => index + 1));
  const lines = (await bench.run(['changes', '--since', '0', '--json'])).stdout.trimEnd().split('\n');
  expect(changes).toEqual(lines.map((line) => JSON.parse(line)));
  const { webhook } = JSON.parse((await bench.run(['status', '--json'], settings)).stdout);
  expect(webhook).toMatchObject({
    host: new URL(receiver.url).host,
    pending_changes: 0,
    accepted_seq: 124,
    accepted_at: expect.any(String),
    failed_attempts: 0,
    last_error: null,
    next_attempt_at: null,
    stopped_at: null,
  });
  expect((await bench.run(['status'])).stdout).toMatch(/^webhook +127\.0\.0\.1:\d+: nothing pending, last accepted /m);
});

describe('webhook test', () => {
  it('needs only the settings of the webhook, and says what came back', async () => {
    const [bench, receiver] = await Promise.all([setUp(), startReceiver()]);
    const empty = Object.fromEntries(Object.keys(bench.env).map((name) => [name, '']));
    const settings = { ...empty, ...receiver.env };
    const accepted = await bench.run(['webhook', 'test'], settings);
    expect(accepted).toMatchObject({ code: 0, stderr: '' });
    expect(accepted.stdout).toMatch(/^127\.0\.0\.1:\d+ accepted the test message msg_\S+ \(status 204, \d+ ms\)\n$/);
    expect(receiver.seen).toMatchObject([
      { type: 'webhook.test', data: { source: null, as_of: null, stale_at: null } },
    ]);
    receiver.script({ status: 302, headers: { location: '/elsewhere' } }, 410);
    const redirected = await bench.run(['webhook', 'test'], settings);
    expect(redirected).toMatchObject({ code: 1, stdout: '' });
    expect(redirected.stderr).toMatch(
      /did not accept the test message \S+ \(status 302, \d+ ms\) -> check LEAGUE_SYNC/,
    );
    expect((await bench.run(['webhook', 'test'], settings)).stderr).toMatch(/\(status 410, \d+ ms\) -> check/);
  });

  it('makes a message that waits due at once', async () => {
    const [bench, receiver] = await Promise.all([setUp(), startReceiver(500)]);
    const worker = bench.startWorker(receiver.env);
    await worker.waitForPoll('changed');
    await receiver.waitFor(2);
    receiver.script(204);
    const { stdout } = await bench.run(['webhook', 'test'], receiver.env);
    expect(stdout).toMatch(
      /accepted the test message .*; the message that waits for its next attempt is due at once\n$/,
    );
    // Otherwise the next attempt would come after five minutes.
    await expect.poll(() => bench.rows('SELECT accepted_seq FROM webhook')[0]?.accepted_seq, SLOW).toBe(124);
    await worker.stop();
  }, 20_000);

  it('stops nothing with a 410, and has the id of the database', async () => {
    const { bench, receiver, settings } = await setUpSent();
    receiver.script(410);
    expect((await bench.run(['webhook', 'test'], settings)).code).toBe(1);
    const [row] = bench.rows('SELECT stopped_at FROM webhook');
    expect(row?.stopped_at).toBeNull();
    expect(receiver.seen.at(-1)?.data).toMatchObject(bench.rows(ORIGIN)[0] ?? {});
  });
});

describe('webhook replay and skip', () => {
  it('need only the database, and say what will be sent', async () => {
    const { bench, receiver, settings } = await setUpSent();
    const before = receiver.seen.length;
    const replay = (since: string) => bench.run(['webhook', 'replay', '--since', since]);
    expect(await replay('120')).toMatchObject({ code: 0, stdout: '4 changes will be sent, from seq 121 on\n' });
    expect(await replay('122')).toMatchObject({
      stdout: '2 changes will be sent, from seq 123 on; 2 changes before, not accepted yet, will not be sent\n',
    });
    expect(await replay('125')).toMatchObject({ code: 64, stderr: expect.stringContaining('the feed ends at 124') });
    expect((await replay('2000-01-01')).stdout).toContain('124 changes will be sent, from seq 1 on');
    expect((await replay('2100-01-01')).stdout).toContain('no changes are there to send; 124 changes before');
    expect((await replay('0')).code).toBe(0);
    const skip = await bench.run(['webhook', 'skip']);
    expect(skip).toMatchObject({
      code: 0,
      stdout: '124 changes will not be sent; deliveries continue after seq 124\n',
    });
    expect((await bench.run(['webhook', 'skip'])).stdout).toContain('no changes were pending');
    expect((await replay('123')).code).toBe(0);
    const worker = bench.startWorker(settings);
    await expect.poll(() => receiver.told().slice(before), SLOW).toEqual(['leagues.changed 124-124']);
    await worker.stop();
  });

  it('say that no worker has a webhook, and count from then on', async () => {
    const bench = await setUp();
    expect((await bench.run(['sync'])).code).toBe(0);
    const none = /; nothing is sent before a worker starts with LEAGUE_SYNC_WEBHOOK_URL set: restart the one that runs/;
    expect((await bench.run(['webhook', 'skip'])).stdout).toMatch(none);
    expect(bench.rows('SELECT * FROM webhook')).toEqual([]);
    const { stdout: replayed } = await bench.run(['webhook', 'replay', '--since', '100']);
    expect(replayed).toMatch(new RegExp(`^24 changes will be sent, from seq 101 on${none.source}`));
    const { stdout } = await bench.run(['webhook', 'skip'], { LEAGUE_SYNC_WEBHOOK_URL: 'http://127.0.0.1:1/' });
    expect(stdout).toContain('; nothing is sent before a worker starts: restart the one that runs');
    expect((await bench.run(['webhook', 'replay', '--since', '100'])).code).toBe(0);
    expect(bench.rows('SELECT accepted_seq FROM webhook')).toEqual([{ accepted_seq: 100 }]);
    expect(bench.rows('SELECT * FROM outputs')).toEqual([]);
    expect(bench.rows('SELECT * FROM attention')).toEqual([]);
  });
});

it('a webhook that fails is shown by the page, status.json and the metrics, and leaves the worker ready', async () => {
  const receiver = await startReceiver(500);
  const { bench, url } = await serveHere(await setUp(), receiver.env);
  await expect.poll(() => bench.rows('SELECT failed_attempts FROM outputs')[0]?.failed_attempts, SLOW).toBe(1);
  const read = async (path: string) => (await fetch(url + path)).text();
  const { host } = new URL(receiver.url);
  expect(JSON.parse(await read('/status.json')).stored.webhook).toMatchObject({
    host,
    pending_changes: 124,
    failed_attempts: 1,
    last_error: 'status 500',
  });
  const metrics = await read('/metrics');
  expect(metrics).toContain('league_sync_webhook_pending_changes 124\n');
  expect(metrics).toContain('league_sync_webhook_attempts_total{outcome="failed"} 1\n');
  expect(metrics).toContain('league_sync_webhook_attempts_total{outcome="accepted"} 0\n');
  const page = await read('/');
  expect(page).toMatch(
    /<li data-what="webhook">.*?since <time .*>The webhook at .* fails \(status 500\): 124 changes pending\..*The next attempt is at \d\d:\d\d:\d\d UTC \(<time/,
  );
  for (const text of ['<dt>Webhook</dt>', host, '<b>the webhook fails</b>']) expect(page).toContain(text);
  expect(JSON.parse(await read('/readyz'))).toEqual({ ready: true, reasons: [] });
  expect((await bench.run(['status'])).stdout).toMatch(
    /^webhook .* failed 1 time since \d.* UTC \(status 500\), next/m,
  );
  const { stdout } = await bench.run(['status', '--json']);
  // For the first hour, only the line of the webhook says it.
  expect(JSON.parse(stdout)).toMatchObject({
    state: 'good',
    headline: 'Up to date',
    webhook: { failed_attempts: 1 },
  });
});

it('check connects to the receiver without a request, and warns if it cannot', async () => {
  const [bench, receiver] = await Promise.all([setUp(), startReceiver()]);
  const { origin } = new URL(receiver.url);
  const webhookLine = async (settings: Setting) =>
    (await bench.run(['check'], settings)).stdout.split('\n').find((line) => /^\S+ +webhook /.test(line));
  expect(await webhookLine(receiver.env)).toBe(`ok    webhook     ${origin} is reachable; nothing was sent`);
  expect(receiver.seen).toEqual([]);
  const dead = await webhookLine({ ...receiver.env, LEAGUE_SYNC_WEBHOOK_URL: 'http://127.0.0.1:1/path-of-the-dead' });
  expect(dead).toMatch(
    /^warn +webhook .+ polls do not depend on it -> check LEAGUE_SYNC_WEBHOOK_URL, DNS and the network/,
  );
  expect(dead).not.toContain('path-of-the-dead');
  const faulty = await bench.run(['check'], { ...receiver.env, LEAGUE_SYNC_WEBHOOK_SECRET: 'whsec_too-short' });
  expect(faulty).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('LEAGUE_SYNC_WEBHOOK_SECRET is not valid'),
  });
});

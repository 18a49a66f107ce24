import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Message } from '../../src/store/tables/webhook.ts';
import { setUp } from '../support/bench.ts';
import { makeFolder } from '../support/folder.ts';
import { findFreePort } from '../support/port.ts';
import { DEADLINE_MS, eventually, readLines } from '../support/program.ts';
import { changeByte, makeAllMessages, makeChanges, makeSecret, send, startJudge } from '../support/webhook-messages.ts';
import { missingPython } from './python.ts';

// The receivers in docs/webhooks.md, started as they stand there, get what the worker sends.

const PAGE = readFileSync('docs/webhooks.md', 'utf8');
const [SECRET, NEXT, OTHER] = [makeSecret(), makeSecret(64), makeSecret()];
const ACCEPTED = { outcome: 'accepted', what: 'status 204' };
const REFUSED = { outcome: 'failed', what: 'status 401' };

type Kind = { readonly label: string; readonly command: string };

/** The last block of the page with this label, or the first one, which passes messages on. */
function codeOf(label: string): string {
  const codes = [...PAGE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, name]) => label.startsWith(name ?? ''));
  return codes.at(label === 'js relay' ? 0 : -1)?.[2] ?? '';
}

/** Resolves to whether something listens at the port. */
async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const found = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return found;
}

type Setting = { readonly secrets?: string; readonly chat?: string; readonly folder?: ReturnType<typeof makeFolder> };

/** Starts the receiver and waits until it listens. It ends with the test. */
async function startReceiver(
  { label, command }: Kind,
  { secrets = SECRET, chat = '', folder = makeFolder() }: Setting = {},
) {
  const port = await findFreePort();
  const env = { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: secrets, CHAT_URL: chat };
  const file = folder.write(label === 'python' ? 'receiver.py' : 'receiver.mjs', codeOf(label));
  const child = spawn(command, [file], { cwd: folder.path, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  onTestFinished(() => stop(child));
  const giveUpAt = performance.now() + DEADLINE_MS;
  while (!(await listens(port))) {
    if (child.exitCode !== null || performance.now() > giveUpAt) throw new Error(`it does not listen: ${said.stderr}`);
    await wait(20);
  }
  return {
    url: `http://127.0.0.1:${port}/`,
    folder,
    stop: () => stop(child),
    /** What it printed as new: the type of each message, and the change or the data. */
    news: () => said.stdout.split('\n').slice(0, -1).map(readNews),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'close');
}

function readNews(line: string): { readonly type: string; readonly what: unknown } {
  const [type = ''] = line.split(' ', 1);
  return { type, what: JSON.parse(line.slice(type.length)) };
}

/** A line may arrive after the answer to its message. */
async function expectNews(news: () => readonly unknown[], messages: readonly Pick<Message, 'message_body'>[]) {
  const expected = messages.flatMap(newsOf);
  await eventually('all news are printed', () => news().length >= expected.length);
  expect(news()).toEqual(expected);
}

/** The news in a message. */
function newsOf({ message_body: body }: Pick<Message, 'message_body'>): readonly unknown[] {
  const { type, data } = JSON.parse(body);
  return (data.changes ?? [data]).map((what: unknown) => ({ type, what }));
}

describe.each([
  { what: 'the receiver in Node', label: 'js', command: process.execPath, missing: () => undefined },
  { what: 'the receiver in Python', label: 'python', command: 'python3', missing: missingPython },
])('$what', ({ missing, ...kind }) => {
  beforeEach(({ skip }) => {
    const why = missing();
    skip(why !== undefined, why);
  });

  it('takes each message for news once, however often it comes', async () => {
    const { url, news } = await startReceiver(kind);
    const messages = makeAllMessages();
    for (const message of [...messages, makeChanges(2, 3), ...messages])
      expect(await send(message, { url, secrets: [SECRET] })).toMatchObject(ACCEPTED);
    await expectNews(news, messages);
  });

  it('refuses a message with another secret, one sent six minutes ago or ahead, and goes on', async () => {
    const { url, news } = await startReceiver(kind);
    const sendTwo = (how: { readonly secrets?: readonly string[]; readonly aheadMs?: number }) =>
      send(makeChanges(1, 2), { url, secrets: [SECRET], ...how });
    for (const how of [{ secrets: [OTHER] }, { aheadMs: -360_000 }, { aheadMs: 360_000 }])
      expect(await sendTwo(how)).toMatchObject(REFUSED);
    expect(await send(makeChanges(3, 3), { url, secrets: [SECRET] })).toMatchObject(ACCEPTED);
    await expectNews(news, [makeChanges(3, 3)]);
  });

  it('refuses a message of which a byte was changed', async () => {
    const { url, news } = await startReceiver(kind);
    const relay = await startJudge(async (headers, body) => {
      const kept = Object.entries(headers).filter(([name]) => name.startsWith('webhook-'));
      const sent = { method: 'POST', headers: Object.fromEntries(kept) as Record<string, string> };
      return (await fetch(url, { ...sent, body: changeByte(body) })).status;
    });
    expect(await send(makeChanges(1, 2), { url: relay, secrets: [SECRET] })).toMatchObject(REFUSED);
    expect(await send(makeChanges(3, 3), { url, secrets: [SECRET] })).toMatchObject(ACCEPTED);
    await expectNews(news, [makeChanges(3, 3)]);
  });

  it('accepts both secrets while one replaces the other, and either from the worker', async () => {
    const { url } = await startReceiver(kind, { secrets: `${SECRET} ${NEXT}` });
    for (const secrets of [[SECRET], [NEXT], [OTHER, NEXT]])
      expect(await send(makeChanges(1, 2), { url, secrets })).toMatchObject(ACCEPTED);
    expect(await send(makeChanges(1, 2), { url, secrets: [OTHER] })).toMatchObject(REFUSED);
  });

  it('refuses a request that is no webhook, and outlives one that breaks off', async () => {
    const { url, news } = await startReceiver(kind);
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
    const unequal = { 'webhook-id': 'a', 'webhook-timestamp': 'now', 'webhook-signature': 'v1, v1,ä ,' };
    expect((await fetch(url, { method: 'POST', body: '{}', headers: unequal })).status).toBe(401);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    await new Promise((written) => socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{', written));
    socket.resetAndDestroy();
    expect(await send(makeChanges(1, 1), { url, secrets: [SECRET] })).toMatchObject(ACCEPTED);
    await expectNews(news, [makeChanges(1, 1)]);
  });

  it('hears all changes of a worker, and nothing twice if they are replayed', async () => {
    const { url, news } = await startReceiver(kind);
    const bench = await setUp();
    const worker = bench.startWorker({ LEAGUE_SYNC_WEBHOOK_URL: url, LEAGUE_SYNC_WEBHOOK_SECRET: SECRET });
    await worker.waitForPoll('changed');
    const { stdout } = await bench.run(['changes', '--since', '0', '--json']);
    const changes = readLines(stdout);
    expect(changes.length).toBeGreaterThan(100);
    const heard = () => news().filter(({ type }) => type === 'leagues.changed');
    await eventually('all changes are there', () => heard().length >= changes.length);
    expect(heard().map(({ what }) => what)).toEqual(changes);
    const before = news();
    expect((await bench.run(['webhook', 'replay', '--since', '0'])).code).toBe(0);
    const delivered = `SELECT 1 FROM webhook, outputs WHERE accepted_seq = ${changes.length} AND done_at > moved_at`;
    await eventually('all changes are delivered again', () => bench.rows(delivered).length === 1);
    expect(news()).toEqual(before);
  });
});

it('the receiver in Python knows after a restart what it has received before', async ({ skip }) => {
  const why = missingPython();
  skip(why !== undefined, why);
  const kind = { label: 'python', command: 'python3' };
  const first = await startReceiver(kind);
  await send(makeChanges(1, 3), { url: first.url, secrets: [SECRET] });
  await first.stop();
  const second = await startReceiver(kind, { folder: first.folder });
  await send(makeChanges(2, 4), { url: second.url, secrets: [SECRET] });
  await expectNews(second.news, [makeChanges(4, 4)]);
});

it('the smallest receiver passes the summary on, and answers as the service behind it', async () => {
  const said: string[] = [];
  const chat = await startJudge((_, body) => {
    said.push(String(body));
    return said.length === 1 ? 500 : 200;
  });
  const { url } = await startReceiver({ label: 'js relay', command: process.execPath }, { chat });
  const message = makeChanges(1, 1);
  const results = [await send(message, { url, secrets: [SECRET] }), await send(message, { url, secrets: [SECRET] })];
  expect(results.map(({ what }) => what)).toEqual(['status 500', 'status 200']);
  expect(said[1]).toBe(JSON.stringify({ text: JSON.parse(message.message_body).data.summary }));
});

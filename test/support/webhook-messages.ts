import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { WebhookTarget } from '../../src/config/webhook.ts';
import type { Change } from '../../src/store/queries/feed.ts';
import type { Message } from '../../src/store/tables/webhook.ts';
import { systemClock } from '../../src/time/clock.ts';
import { type Attempt, makeChangesMessage, makeMessage, sendMessage } from '../../src/webhook/message.ts';
import type { StateChange } from '../../src/webhook/states.ts';
import { openPort } from './port.ts';

export function makeSecret(bytes = 32): string {
  return `whsec_${randomBytes(bytes).toString('base64')}`;
}

const STAMPS = { as_of: '2026-11-22T11:55:00.000Z', stale_at: '2026-11-22T12:12:00.000Z' };
const ORIGIN = { source: 'a-database', madeAt: '2026-11-22T12:00:00.000Z', ...STAMPS };

/** Characters that take one to four bytes, and one that JavaScript counts as the end of a line. */
const NAME = 'Brasileirão Série A \u2028 "⚽" 🏟';

export function makeChange(seq: number): Change {
  const after = JSON.stringify({ league_name: NAME, priority: 1 });
  const what = { league_id: `league-${seq}`, league_name: NAME, kind: 'added', before: null, after } as const;
  return { seq, run_id: 1, at: ORIGIN.madeAt, ...what };
}

export function makeChanges(from: number, to: number): Message {
  const changes = Array.from({ length: to - from + 1 }, (_, index) => makeChange(from + index));
  const message = makeChangesMessage(ORIGIN, changes);
  if (message === undefined) throw new Error('a message has at least one change');
  return message;
}

const STATES: Readonly<Record<StateChange | 'webhook.test', true>> = {
  'data.stale': true,
  'data.fresh': true,
  'removals.held': true,
  'credentials.refused': true,
  'credentials.accepted': true,
  'webhook.test': true,
};

/** A message of each type. */
export function makeAllMessages(): readonly Message[] {
  const news = { since: ORIGIN.madeAt, summary: `${NAME} is held.`, what_to_do: 'Run league-sync status.' };
  return [makeChanges(1, 3), ...Object.keys(STATES).map((type) => makeMessage(type, ORIGIN, news))];
}

export type Sending = {
  readonly url: string;
  readonly secrets: readonly string[];
  /** How far the clock of the sender is ahead of that of the receiver. */
  readonly aheadMs?: number;
};

/** Sends a message as the worker does. */
export function send(message: Message, { url, secrets, aheadMs = 0 }: Sending): Promise<Attempt> {
  const keys = secrets.map((secret) => Buffer.from(secret.slice('whsec_'.length), 'base64'));
  const target: WebhookTarget = { url: new URL(url), keys, proxy: undefined };
  const clock = { ...systemClock, now: () => Date.now() + aheadMs };
  return sendMessage(message, target, { clock, signal: new AbortController().signal });
}

/** A receiver that answers with the status that `judge` returns. Ends with the test. */
export async function startJudge(
  judge: (headers: IncomingHttpHeaders, body: Buffer) => number | Promise<number>,
): Promise<string> {
  const server = createServer(async (request, response) => {
    response.writeHead(await judge(request.headers, await buffer(request))).end();
  });
  const { port } = await openPort(server);
  return `http://127.0.0.1:${port}/`;
}

/** Changes one bit in the middle of a body. It stays as long, and may be JSON still. */
export function changeByte(body: Buffer): Buffer {
  const changed = Buffer.from(body);
  const middle = Math.floor(body.length / 2);
  changed[middle] = (changed[middle] ?? 0) ^ 1;
  return changed;
}

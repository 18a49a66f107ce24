import { unescape as decodePercents } from 'node:querystring';
import { Agent, type Dispatcher, ProxyAgent, request } from 'undici';
import type { HeartbeatSource, HeartbeatTarget } from '../config/credentials.ts';
import { throughProxy } from '../config/proxy.ts';
import { formatDuration } from '../duration.ts';
import { codeOf, SettingsError } from '../errors.ts';
import { unlessAborted } from '../race-abort.ts';

/** What is said of a run. */
export type Message = {
  readonly kind: 'start' | 'success' | 'fail';
  /** The same for the start of a run and its end. */
  readonly runId: string;
  /** For people to read. */
  readonly text?: string;
};

/** Why a message did not get through, in words without the address; `passes` where another attempt can help. */
export type PingFault = { readonly what: string; readonly passes: boolean };

/** Sends one message. Never rejects: gives what went wrong, if anything did. */
export type Ping = (message: Message, signal: AbortSignal) => Promise<PingFault | undefined>;

export type PingOptions = {
  /** Asked anew for each message. */
  readonly source: HeartbeatSource;
  /** Name and version of this program. */
  readonly userAgent: string;
  /** Limit for one message, from connecting to the end of the answer. */
  readonly timeoutMs: number;
};

/** What is said of an answer that long is of no interest here. */
const LARGEST_ANSWER_BYTES = 1_024;
const PLAIN_TEXT = { 'content-type': 'text/plain; charset=utf-8' };
/** healthchecks.io takes a check that it does not know, and too many messages, with status 200 and these words. */
const REFUSED = /^OK \((not found|rate limited)\)/;

/** Talks to a monitoring service in the manner of healthchecks.io. The address is a secret: no fault repeats it. */
export function createPing({ source, ...options }: PingOptions): Ping {
  return async (message, signal) => {
    try {
      return await send(message, { ...options, target: source(), signal });
    } catch (error) {
      // The file that holds the address may be there again at the next attempt.
      if (error instanceof SettingsError) return { what: error.faults[0]?.message ?? error.message, passes: true };
      throw error;
    }
  };
}

type Sending = Omit<PingOptions, 'source'> & { readonly target: HeartbeatTarget; readonly signal: AbortSignal };

async function send(message: Message, options: Sending): Promise<PingFault | undefined> {
  const { target, timeoutMs, signal } = options;
  const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  let dispatcher: Dispatcher | undefined;
  try {
    dispatcher = createDispatcher(options);
    return await unlessAborted(exchange(message, { ...options, dispatcher, signal: ended }), ended);
  } catch (error) {
    const what = ended.aborted ? `no answer within ${formatDuration(timeoutMs)}` : nameOf(error);
    return { what: `${what}${throughProxy(target.proxy)}`, passes: true };
  } finally {
    // Without waiting: what a connection does while it is being made cannot be hurried.
    void dispatcher?.destroy().catch(() => undefined);
  }
}

function createDispatcher({ target: { proxy }, timeoutMs }: Sending): Dispatcher {
  const common = { pipelining: 0, allowH2: false, connect: { timeout: timeoutMs } };
  return proxy === undefined ? new Agent(common) : new ProxyAgent({ ...common, uri: proxy.address });
}

type Exchange = Sending & { readonly dispatcher: Dispatcher };

async function exchange(message: Message, options: Exchange): Promise<PingFault | undefined> {
  const { userAgent, dispatcher, signal } = options;
  const { url } = options.target;
  const headers = { 'user-agent': userAgent, ...authorizationOf(url) };
  const sent =
    message.text === undefined
      ? ({ method: 'GET', headers } as const)
      : ({ method: 'POST', headers: { ...headers, ...PLAIN_TEXT }, body: message.text } as const);
  const { statusCode, body } = await request(addressOf(url, message), { dispatcher, signal, ...sent });
  const answer = await readStart(body);
  if (statusCode < 200 || statusCode > 299) return { what: `status ${statusCode}`, passes: isTransient(statusCode) };
  const refusal = REFUSED.exec(answer)?.[1];
  return refusal === undefined ? undefined : { what: refusal, passes: false };
}

async function readStart(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= LARGEST_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The kind goes at the end of the path, and the run into the query, beside what both hold already. */
function addressOf(url: URL, { kind, runId }: Message): string {
  const address = new URL(url);
  address.username = '';
  address.password = '';
  address.hash = '';
  if (kind !== 'success') address.pathname = `${url.pathname.replace(/\/+$/, '')}/${kind}`;
  address.search = `${url.search === '' ? '?' : `${url.search}&`}rid=${runId}`;
  return address.href;
}

function authorizationOf({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const pair = `${decodePercents(username)}:${decodePercents(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function isTransient(status: number): boolean {
  return status === 408 || status >= 500;
}

/** The code of a fault, since the words of libraries may repeat the address. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown fault';
  if (error instanceof AggregateError && codeOf(error) === '') return nameOf(error.errors[0]);
  return codeOf(error) || error.name;
}

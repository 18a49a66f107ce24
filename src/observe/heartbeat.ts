import { randomUUID } from 'node:crypto';
import { unescape as decodePercents } from 'node:querystring';
import type { Clock } from '../clock.ts';
import type { HeartbeatSource } from '../config/credentials.ts';
import { throughProxy } from '../config/proxy.ts';
import { formatDuration } from '../duration.ts';
import { RunError, SettingsError, StatusError, TransportError } from '../errors.ts';
import type { Log } from '../log.ts';
import { sendRequest } from '../service/http.ts';
import { isSuccess } from '../service/response.ts';
import { retry } from '../service/retry.ts';
import type { Listener } from '../sync/events.ts';
import type { RunReport } from '../sync/report.ts';

/**
 * Tells a monitoring service when a run of the leagues begins and how it ends, without ever making a run wait. Disposing
 * gives what is under way a moment more.
 */
export type Heartbeat = AsyncDisposable & { readonly note: Listener };

/** What is said of a run. */
export type Message = {
  readonly kind: 'start' | 'success' | 'fail';
  /** The same for the start of a run and its end. */
  readonly runId: string;
  /** For people to read. */
  readonly text?: string;
};

/** Sends one message. Rejects with an error whose message names no address. */
export type Ping = (message: Message, signal: AbortSignal) => Promise<void>;

export type HeartbeatOptions = {
  readonly ping: Ping;
  /** For the log: the rest of the address is a secret. */
  readonly host: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
};

/** Up to 4, 8 and 16 s: a name that cannot be resolved for a moment, a monitoring service that is being restarted. */
const FIRST_WAIT_MS = 4_000;
const GRACE_MS = 1_000;

export function createHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { send, close } = createSender(options);
  let runId = '';
  return {
    note: (event) => {
      if (event.type === 'runStarted' && event.kind === 'leagues') {
        runId = randomUUID();
        send({ kind: 'start', runId });
      }
      if (event.type !== 'runEnded' || event.report.kind !== 'leagues') return;
      if (event.report.outcome !== 'interrupted') send({ ...endOf(event.report), runId });
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Messages go out one after the other; the newest takes the place of one that waits, for that is out of date. */
function createSender(options: HeartbeatOptions) {
  const deliver = createDelivery(options);
  const cut = new AbortController();
  let next: Message | undefined;
  /** Aborts when there is a newer message, or no time left: no further attempt is made. */
  let late = new AbortController();
  let working: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    for (let message = next; message !== undefined; message = next) {
      next = undefined;
      late = new AbortController();
      await deliver(message, late.signal, cut.signal);
    }
    working = undefined;
  };
  return {
    send: (message: Message): void => {
      next = message;
      late.abort();
      working ??= work();
    },
    close: async (): Promise<void> => {
      late.abort();
      const over = new AbortController();
      await Promise.race([working, options.clock.sleep(GRACE_MS, over.signal).catch(() => undefined)]);
      over.abort();
      next = undefined;
      cut.abort();
      late.abort();
      await working;
    },
  };
}

/** Sends one message; `late` ends its retries, and `cut` the attempt that is under way. Never rejects. */
function createDelivery({ ping, host, clock, random, log }: HeartbeatOptions) {
  let isFailing = false;
  return async (message: Message, late: AbortSignal, cut: AbortSignal): Promise<void> => {
    let failure: unknown;
    const attempt = (): Promise<void> =>
      ping(message, cut).catch((error: unknown) => {
        failure = error;
        throw error;
      });
    try {
      const deadline = { at: Number.POSITIVE_INFINITY, signal: late };
      await retry(attempt, { clock, random, deadline, firstWaitMs: FIRST_WAIT_MS });
      if (isFailing) log.info({ host }, `the heartbeat gets through to ${host} again`);
      isFailing = false;
    } catch {
      if (cut.aborted) return;
      const why = failure instanceof RunError ? failure.message : 'unknown fault';
      if (!isFailing) log.warn({ host }, `the heartbeat does not get through to ${host} (${why})`);
      isFailing = true;
    }
  };
}

/** A run whose removals are held is a good one in every other respect. */
function endOf({ outcome, error }: RunReport): Omit<Message, 'runId'> {
  if (outcome !== 'failed') return { kind: 'success' };
  return { kind: 'fail', text: shorten(error === undefined ? 'failed' : `${error.kind}: ${error.message}`) };
}

/** Far more than any reason that is worth reading. */
const LONGEST_TEXT_BYTES = 10_000;

function shorten(text: string): string {
  // A character that is cut in two is left out.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, LONGEST_TEXT_BYTES), { stream: true });
}

/** What healthchecks.io advises. */
const TIMEOUT_MS = 10_000;
/** What is said of an answer that is longer is of no interest here. */
const LARGEST_ANSWER_BYTES = 1_024;
const PLAIN_TEXT = { 'content-type': 'text/plain; charset=utf-8' };
/** healthchecks.io takes a check that it does not know, and too many messages, with status 200 and these words. */
const REFUSED = /^OK \((not found|rate limited)\)/;

/** Talks to a monitoring service in the manner of healthchecks.io. The address is a secret, and read anew each time. */
export function createPing(source: HeartbeatSource, timeoutMs = TIMEOUT_MS): Ping {
  return async (message, signal) => {
    const { url, proxy } = readTarget(source);
    const { text } = message;
    const limits = { timeoutMs, maxBodyBytes: LARGEST_ANSWER_BYTES, cutsBody: true };
    const request = {
      method: text === undefined ? 'GET' : 'POST',
      url: addressOf(url, message),
      name: 'the heartbeat',
      headers: { ...authorizationOf(url), ...(text === undefined ? {} : PLAIN_TEXT) },
      body: text,
      proxy,
    } as const;
    const { status, body } = await sendRequest({ ...request, ...limits }, signal).catch((error: unknown) => {
      if (!(error instanceof TransportError)) throw error;
      const what = error.code || `no answer within ${formatDuration(timeoutMs)}`;
      throw new TransportError('network', true, `${what}${throughProxy(proxy)}`);
    });
    if (!isSuccess(status)) throw new StatusError(status === 408 || status >= 500, `status ${status}`);
    const refusal = REFUSED.exec(Buffer.from(body).toString('utf8'))?.[1];
    if (refusal !== undefined) throw new StatusError(false, refusal);
  };
}

function readTarget(source: HeartbeatSource): ReturnType<HeartbeatSource> {
  try {
    return source();
  } catch (error) {
    // The file that holds the address may be there again at the next attempt.
    if (error instanceof SettingsError) throw new StatusError(true, error.faults[0]?.message ?? error.message);
    throw error;
  }
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

import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { HeartbeatSource } from '../config/credentials.ts';
import { describeProxy } from '../config/proxy.ts';
import { StatusError, TransportError, toRunError } from '../errors.ts';
import type { Listener } from '../events.ts';
import { createVoice } from '../failure-streak.ts';
import { type SendRequest, splitAddress } from '../http/request.ts';
import { isSuccess } from '../http/response.ts';
import type { Log } from '../log.ts';
import type { System } from '../service/connection.ts';
import { retry } from '../service/retry.ts';
import type { RunReport } from '../sync/report.ts';
import { formatDuration } from '../time/duration.ts';

type Message = {
  readonly kind: 'start' | 'success' | 'fail';
  /** The messages about the start and the end of a run have the same id. */
  readonly runId: string;
  readonly text?: string;
};

/** The maximum wait before the first retry. It doubles to 8 and 16 s, so that retries outlast most short outages. */
const FIRST_WAIT_MS = 4_000;
const GRACE_MS = 1_000;
const MAX_TEXT_LENGTH = 10_000;

/**
 * Tells a monitoring service when a run of the leagues starts, succeeds or fails, without delaying the run. Sends one
 * message at a time. A newer message cancels the retries of an older one, and replaces messages that wait to be sent.
 * Undefined if no heartbeat is set.
 */
export function openHeartbeat(
  { heartbeat: source }: Pick<Config, 'heartbeat'>,
  { clock, random, send, log }: System & { readonly log: Log },
) {
  if (source === undefined) return undefined;
  /** The only part of the URL that is not secret. */
  const { host } = source().url;
  const voice = createVoice(log, clock, 'debug');
  const closing = new AbortController();
  /** Aborts the request in progress. */
  const shutdown = new AbortController();
  let superseded = new AbortController();
  let sending: Promise<void> = Promise.resolve();
  let runId = '';

  const deliver = async (message: Message, outdated: AbortSignal): Promise<void> => {
    if (outdated.aborted || shutdown.signal.aborted) return;
    let failure: unknown;
    const attempt = (): Promise<void> =>
      ping(source, message, send, shutdown.signal).catch((error: unknown) => {
        failure = error;
        throw error;
      });
    // Disposal or a newer message cancels all further attempts.
    const deadline = { at: Number.POSITIVE_INFINITY, signal: AbortSignal.any([outdated, closing.signal]) };
    try {
      await retry(attempt, { clock, random, deadline, firstWaitMs: FIRST_WAIT_MS });
      voice.worked({ host }, `the heartbeat to ${host}`);
    } catch {
      if (shutdown.signal.aborted) return;
      const error = toRunError(failure);
      voice.failed(error, { host }, `the heartbeat to ${host} failed (${error.what.replace(/\.$/, '')})`);
    }
  };
  const tell = (message: Message): void => {
    superseded.abort();
    superseded = new AbortController();
    const { signal } = superseded;
    sending = sending.then(() => deliver(message, signal));
  };
  const onEvent: Listener = (event) => {
    if (event.type === 'runStarted' && event.kind === 'leagues') {
      runId = randomUUID();
      tell({ kind: 'start', runId });
    }
    if (event.type !== 'runEnded' || event.report.kind !== 'leagues') return;
    if (event.report.outcome !== 'interrupted') tell({ ...endOf(event.report), runId });
  };
  return {
    onEvent,
    /** Waits up to 1 s for the request in progress, then aborts it. */
    [Symbol.asyncDispose]: async (): Promise<void> => {
      closing.abort();
      const over = new AbortController();
      await Promise.race([sending, clock.sleep(GRACE_MS, over.signal).catch(() => undefined)]);
      over.abort();
      shutdown.abort();
      await sending;
    },
  };
}

function endOf({ outcome, error }: RunReport): Omit<Message, 'runId'> {
  if (outcome !== 'failed') return { kind: 'success' };
  const text = error === undefined ? 'failed' : `${error.kind}: ${error.message}`;
  return { kind: 'fail', text: text.slice(0, MAX_TEXT_LENGTH) };
}

/** The timeout is the one that healthchecks.io advises. */
const LIMITS = { timeoutMs: 10_000, maxBodyBytes: 1_024, isBodyOptional: true };
const PLAIN_TEXT = { 'content-type': 'text/plain; charset=utf-8' };
/** healthchecks.io sends this with status 200 if the check does not exist or is pinged too often. */
const REFUSED = /^OK \((not found|rate limited)\)/;

/** Reads the URL anew, since its file may change. Rejects with an error that does not contain the URL. */
async function ping(source: HeartbeatSource, message: Message, send: SendRequest, signal: AbortSignal): Promise<void> {
  const { url, proxy } = source();
  const { text } = message;
  const request = {
    method: text === undefined ? 'GET' : 'POST',
    url: pingUrl(url, message),
    name: 'the heartbeat',
    headers: { ...splitAddress(url).headers, ...(text === undefined ? {} : PLAIN_TEXT) },
    body: text,
    proxy,
    ...LIMITS,
  } as const;
  const { status, body } = await send(request, signal).catch((error: unknown) => {
    if (!(error instanceof TransportError)) throw error;
    const what = error.code || `no answer within ${formatDuration(LIMITS.timeoutMs)}`;
    throw new TransportError('network', true, `${what}${describeProxy(proxy)}`);
  });
  if (!isSuccess(status))
    throw new StatusError(status === 408 || status >= 500, `status ${status}${describeProxy(proxy)}`);
  const refusal = REFUSED.exec(Buffer.from(body).toString('utf8'))?.[1];
  if (refusal !== undefined) throw new StatusError(false, refusal);
}

/** For example `https://hc-ping.com/<uuid>/start?rid=<run id>`. */
function pingUrl(url: URL, { kind, runId }: Message): string {
  const { address } = splitAddress(url);
  if (kind !== 'success') address.pathname = `${url.pathname.replace(/\/+$/, '')}/${kind}`;
  address.search = `${url.search === '' ? '?' : `${url.search}&`}rid=${runId}`;
  return address.href;
}

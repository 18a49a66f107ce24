import type { Config } from '../config/config.ts';
import { RetryAfterError } from '../errors.ts';
import { type HttpRequest, type SendRequest, sendRequest } from '../http/request.ts';
import type { HttpResponse, ResponseHead } from '../http/response.ts';
import { createRetryAfter, readRetryAfter } from '../http/retry-after.ts';
import { createDriftLog } from '../league/drift.ts';
import { createSecrets } from '../redact.ts';
import { type Clock, formatTimestamp, systemClock } from '../time/clock.ts';
import { formatSize } from '../time/duration.ts';

/** What is taken from the outside besides files: time, chance and the network. A simulation has its own. */
export type System = { readonly clock: Clock; readonly random: () => number; readonly send: SendRequest };

export const REAL_SYSTEM: System = { clock: systemClock, random: Math.random, send: sendRequest };

/** A request whose path is appended to the base URL. */
type ServiceRequest = Required<Pick<HttpRequest, 'method' | 'headers'>> & {
  readonly path: string;
  readonly body?: string;
  /** What it is for, such as `logging in`. */
  readonly purpose: string;
};

/** A response of the service, with the address that was asked. */
export type ServiceResponse = HttpResponse & { readonly url: string };

/** What goes on, in words, for those who wait: `since` when (monotonic), and at most how long, or in which attempt. */
export type ProgressEvent = { readonly type: 'progress' } & (
  | { readonly what: string; readonly limit?: { readonly since: number; readonly ms: number } }
  | { readonly attempt: string }
);

export type ConnectionOptions = {
  readonly system?: System;
  readonly emit?: (event: ProgressEvent) => void;
  /** What is left (ms) of a stored `Retry-After`. */
  readonly retryAfterLeftMs?: number;
  /** Gets each new end (ms) of the wait. */
  readonly onRetryAfter?: (until: number) => void;
};

export type ServiceConnection = ReturnType<typeof createConnection>;

/** What all requests to the service share. */
export function createConnection(
  config: Pick<Config, 'baseUrl' | 'proxy' | 'attemptTimeoutMs' | 'maxBodyBytes'>,
  { system = REAL_SYSTEM, retryAfterLeftMs, onRetryAfter, emit = () => undefined }: ConnectionOptions = {},
) {
  const { baseUrl, proxy, attemptTimeoutMs: timeoutMs, maxBodyBytes } = config;
  const { clock, random, send } = system;
  const retryAfter = createRetryAfter(clock, retryAfterLeftMs, onRetryAfter);
  /** Rejects like `sendRequest`, and during a `Retry-After` with a RetryAfterError; reads that header of each response. */
  const transport = async (request: ServiceRequest, signal: AbortSignal): Promise<ServiceResponse> => {
    const { method, path, body } = request;
    const until = retryAfter.until();
    if (until > 0) {
      const message = `The service asked not to be called before ${formatTimestamp(until)} (Retry-After); nothing is sent until then.`;
      throw new RetryAfterError(true, message, { notBefore: until });
    }
    let notBefore: number | undefined;
    const onHead = (head: ResponseHead): void => {
      notBefore = readRetryAfter(head, clock.now());
      // Applied before the body arrives, but not for a 2xx: only the body tells whether a 2xx is a failure.
      if (notBefore !== undefined && head.status >= 300) retryAfter.extend(notBefore);
    };
    const url = `${baseUrl}${path}`;
    const headers = { accept: 'application/json', 'accept-encoding': 'gzip, br', ...request.headers };
    const limit = { since: clock.monotonic(), ms: timeoutMs };
    const tell = (what: string): void => emit({ type: 'progress', what, limit });
    const onBytes = (size: number): void => tell(`receiving ${formatSize(size)}`);
    const options = { name: `${method} ${url}`, proxy, timeoutMs, maxBodyBytes, onHead, onBytes };
    tell(`${request.purpose}: no answer yet`);
    try {
      return { ...(await send({ method, url, headers, body, ...options }, signal)), url, notBefore };
    } catch (error) {
      // A 2xx whose body is incomplete is a failure, too.
      if (notBefore !== undefined) retryAfter.extend(notBefore);
      throw error;
    }
  };
  return {
    transport,
    retryAfter,
    secrets: createSecrets(clock.monotonic),
    drift: createDriftLog(),
    clock,
    random,
    emit,
  };
}

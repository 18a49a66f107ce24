import type { Config } from '../config/config.ts';
import type { Credentials } from '../config/credentials.ts';
import { StoppedError } from '../errors.ts';
import { createDriftLog } from '../league/drift.ts';
import { createSecrets } from '../redact.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { createClient } from './client.ts';
import { type HttpRequest, sendRequest } from './http.ts';
import { createLogIn, type LoginReason, type LoginRecord } from './login.ts';
import type { HttpResponse } from './response.ts';
import { createRetryAfter, withRetryAfter } from './retry-after.ts';
import { Session } from './session.ts';

/** A request whose path is appended to the base URL. */
export type ServiceRequest = Pick<HttpRequest, 'method' | 'body' | 'onHead'> & {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Rejects like `sendRequest`. A transport made by `withRetryAfter` may also reject with a RetryAfterError. */
export type Transport = (request: ServiceRequest, signal: AbortSignal) => Promise<HttpResponse>;

export function createTransport(
  config: Pick<Config, 'baseUrl' | 'proxy' | 'attemptTimeoutMs' | 'maxBodyBytes'>,
): Transport {
  const { baseUrl, proxy, attemptTimeoutMs: timeoutMs, maxBodyBytes } = config;
  return ({ path, headers, ...request }, signal) => {
    const url = `${baseUrl}${path}`;
    const accepted = { accept: 'application/json', 'accept-encoding': 'gzip, br' };
    const options = { url, name: `${request.method} ${url}`, proxy, timeoutMs, maxBodyBytes };
    return sendRequest({ ...request, ...options, headers: { ...accepted, ...headers } }, signal);
  };
}

export type Connection = ReturnType<typeof connect>;

/** `retryAfterLeftMs` is what is left of a stored `Retry-After`; `onRetryAfter` gets each new end (ms) of the wait. */
export function connect(
  transport: Transport,
  { retryAfterLeftMs, onRetryAfter }: { retryAfterLeftMs?: number; onRetryAfter?: (until: number) => void } = {},
  { clock = systemClock, random = Math.random }: { clock?: Clock; random?: () => number } = {},
) {
  const retryAfter = createRetryAfter(clock, retryAfterLeftMs, onRetryAfter);
  return {
    transport: withRetryAfter(transport, retryAfter, clock),
    retryAfter,
    secrets: createSecrets(clock.monotonic),
    drift: createDriftLog(),
    clock,
    random,
  };
}

/** Creates a client and its session; sends nothing yet. Disposal aborts a login in progress and awaits its end. */
export function openService(
  config: Pick<Config, 'loginLeewayMs' | 'runTimeoutMs'> & { readonly credentials: Credentials },
  connection: Connection,
  options: { firstReason: LoginReason; onLogin: (login: LoginRecord) => void; signal: AbortSignal },
) {
  const { firstReason, onLogin, signal } = options;
  const ending = new AbortController();
  const session = new Session({
    ...connection,
    logIn: createLogIn(connection, onLogin),
    credentials: config.credentials,
    leewayMs: config.loginLeewayMs,
    loginTimeoutMs: config.runTimeoutMs,
    firstReason,
    signal: AbortSignal.any([signal, ending.signal]),
  });
  const dispose = async (): Promise<void> => {
    ending.abort(new StoppedError());
    await session.settled();
  };
  return { ...connection, client: createClient(connection, session), session, [Symbol.asyncDispose]: dispose };
}

import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { createDriftLog, type DriftLog } from '../drift.ts';
import { StoppedError } from '../errors.ts';
import { createSecrets, type Secrets } from '../redact.ts';
import { type Client, createClient } from './client.ts';
import { type HttpRequest, sendRequest } from './http.ts';
import { createLogIn, type LoginReason, type LoginRecord } from './login.ts';
import type { HttpResponse } from './response.ts';
import { createRetryAfter, type RetryAfter, withRetryAfter } from './retry-after.ts';
import { Session } from './session.ts';

/** A request to the service, relative to {base_url}. */
export type ServiceRequest = Pick<HttpRequest, 'method' | 'body' | 'onHead'> & {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Sends one request to the service, as `sendRequest` does. */
export type Transport = (request: ServiceRequest, signal: AbortSignal) => Promise<HttpResponse>;

/** The one thing that asks the service anything. */
export function createTransport({
  baseUrl,
  proxy,
  attemptTimeoutMs: timeoutMs,
  maxBodyBytes,
}: Pick<Config, 'baseUrl' | 'proxy' | 'attemptTimeoutMs' | 'maxBodyBytes'>): Transport {
  return ({ method, path, headers, body, onHead }, signal) => {
    const url = `${baseUrl}${path}`;
    const accepted = { accept: 'application/json', 'accept-encoding': 'gzip, br' };
    const request = { method, url, name: `${method} ${url}`, headers: { ...accepted, ...headers }, body, onHead };
    return sendRequest({ ...request, proxy, timeoutMs, maxBodyBytes }, signal);
  };
}

/** What logins and requests share. */
export type Connection = {
  readonly transport: Transport;
  readonly retryAfter: RetryAfter;
  readonly secrets: Secrets;
  readonly drift: DriftLog;
  readonly clock: Clock;
  readonly random: () => number;
};

export type ConnectionOptions = {
  /** How much (ms) is left of the `Retry-After` that earlier runs know of. */
  readonly retryAfterLeftMs?: number | undefined;
  /** Called with the end (ms) of every `Retry-After`. */
  readonly onRetryAfter?: ((until: number) => void) | undefined;
};

export function connect(
  transport: Transport,
  { retryAfterLeftMs, onRetryAfter }: ConnectionOptions = {},
  { clock, random }: Pick<Connection, 'clock' | 'random'> = { clock: systemClock, random: Math.random },
): Connection {
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

/** A client with its session. Disposing ends the login that is under way. */
export type Service = AsyncDisposable & Connection & { readonly client: Client; readonly session: Session };

export type ServiceOptions = {
  readonly firstReason: LoginReason;
  /** Called for each login. */
  readonly onLogin: (login: LoginRecord) => void;
  readonly signal: AbortSignal;
};

/** Nothing is sent yet. */
export function openService(
  config: Pick<Config, 'credentials' | 'loginLeewayMs' | 'runTimeoutMs'>,
  connection: Connection,
  { firstReason, onLogin, signal }: ServiceOptions,
): Service {
  const ending = new AbortController();
  const session = new Session({
    ...connection,
    logIn: createLogIn({ ...connection, onLogin }),
    credentials: config.credentials,
    leewayMs: config.loginLeewayMs,
    loginTimeoutMs: config.runTimeoutMs,
    firstReason,
    signal: AbortSignal.any([signal, ending.signal]),
  });
  const end = async (): Promise<void> => {
    ending.abort(new StoppedError());
    await session.settled();
  };
  return { ...connection, client: createClient({ ...connection, session }), session, [Symbol.asyncDispose]: end };
}

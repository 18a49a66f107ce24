import type { Credentials } from '../config/credentials.ts';
import type { Drift } from '../drift.ts';
import { ContractError, CredentialsError, RetryAfterError, RunError, StatusError, toRunError } from '../errors.ts';
import { LOGIN_RESULT } from '../interface.ts';
import { type JsonObject, typeName } from '../json.ts';
import { parseInstant } from '../time/timestamp.ts';
import { unknownFields } from './coerce.ts';
import { type HttpResponse, isTransient, readFailureDetails, readObject, serverClock } from './response.ts';
import type { Connection } from './service.ts';
import { hasExpiredOnArrival, type Token } from './token.ts';

export type LoginReason = 'start' | 'due' | 'rejected-token' | 'manual';

/** One login as it is recorded: never a token. */
export type LoginRecord = {
  readonly at: number;
  readonly reason: LoginReason;
  readonly outcome: 'ok' | 'refused' | 'failed';
  readonly expiresAt?: number | undefined;
  readonly clockSkewMs?: number | undefined;
  /** The token had expired, or all but, when it arrived. */
  readonly expiredOnArrival?: boolean;
  /** Why it failed; undefined if the worker was stopped. */
  readonly error?: RunError | undefined;
  readonly errorMessage?: string;
};

/**
 * Logs in, with the credentials as they are at this moment. Rejects with a CredentialsError if the service refuses them,
 * or if they cannot be read.
 */
export type LogIn = (reason: LoginReason, credentials: Credentials, signal: AbortSignal) => Promise<Token>;

export type LoginOptions = Connection & {
  /** Called once for every login that was tried. */
  readonly onLogin: (login: LoginRecord) => void;
};

export function createLogIn(options: LoginOptions): LogIn {
  const { clock, onLogin } = options;
  return async (reason, credentials, signal) => {
    const at = clock.now();
    try {
      const token = await requestToken(credentials, signal, options);
      const { expiresAt, clockSkewMs } = token;
      const expiredOnArrival = hasExpiredOnArrival(token);
      onLogin({ at, reason, outcome: 'ok', expiresAt, clockSkewMs, expiredOnArrival });
      return token;
    } catch (error) {
      // Nothing was sent.
      if (error instanceof RetryAfterError) throw error;
      if (signal.aborted) {
        const why = signal.reason instanceof RunError ? signal.reason : undefined;
        onLogin({ at, reason, outcome: 'failed', error: why, errorMessage: describeEnd(signal.reason) });
        throw error;
      }
      const failure = toRunError(error);
      // A secret that cannot be read has not been refused by anybody: no answer, no refusal.
      const isRefused = failure instanceof CredentialsError && failure.httpStatus !== undefined;
      const outcome = isRefused ? 'refused' : 'failed';
      onLogin({ at, reason, outcome, error: failure, errorMessage: failure.message });
      throw failure;
    }
  };
}

/** Why a login that was under way was cut short. */
function describeEnd(reason: unknown): string {
  return reason instanceof Error ? `The login was cut short. ${reason.message}` : 'The login was cut short.';
}

const PATH = '/players/v1/authenticate/login';

async function requestToken(credentials: Credentials, signal: AbortSignal, options: Connection): Promise<Token> {
  const { clock, secrets } = options;
  const { username, password } = credentials.read();
  const pair = Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
  secrets.addCredentials(username, password, pair);

  const sentAt = { wall: clock.now(), monotonic: clock.monotonic() };
  const headers = { 'content-type': 'application/json', authorization: `Basic ${pair}` };
  const sent = JSON.stringify({ attribute: 'username' });
  const response = await options.transport({ method: 'POST', path: PATH, headers, body: sent }, signal);
  const body = await readObject(response);
  assertSuccess(response, body, options);
  const { data } = LOGIN_RESULT.safeParse(body);
  if (body === undefined || data === undefined) {
    const message = 'The login succeeded, but its answer holds no access_token that can be sent.';
    throw new ContractError(message, { httpStatus: response.status });
  }
  secrets.addTokens(data.access_token, data.refresh_token ?? '');
  const expiresAt = readExpiry(body, options);
  const serverTime = serverClock(response);
  return {
    accessToken: data.access_token,
    sentAt,
    tookMs: clock.monotonic() - sentAt.monotonic,
    expiresAt,
    lifetimeMs: expiresAt === undefined ? undefined : expiresAt - (serverTime ?? sentAt.wall),
    clockSkewMs: serverTime === undefined ? undefined : skewOf(serverTime, (sentAt.wall + clock.now()) / 2),
  };
}

/** The `Date` header counts whole seconds: no smaller difference can be told from none. */
const CLOCK_STEP_MS = 1_000;

/** How far (ms) the service's clock is ahead of ours; on average the truth lies in the middle of its second. */
function skewOf(serverTime: number, now: number): number {
  const skewMs = Math.round(serverTime + CLOCK_STEP_MS / 2 - now);
  return Math.abs(skewMs) < CLOCK_STEP_MS ? 0 : skewMs;
}

/** Throws unless the login succeeded (contract, 4): what passes by itself is no refusal. */
function assertSuccess(response: HttpResponse, body: JsonObject | undefined, options: Connection): void {
  const { status } = response;
  const isDenied = status === 401 || status === 403;
  if (!isDenied && !isTransient(status) && body?.result === 'success') return;
  const details = readFailureDetails(response, body, options);
  if (isTransient(status)) {
    throw new StatusError(true, `The service answered the login with status ${status}.`, details);
  }
  if (isDenied || (body?.result === 'fail' && status !== 404)) {
    const fix = 'check LEAGUE_SYNC_USERNAME and LEAGUE_SYNC_PASSWORD, and that API access is enabled for this account';
    throw new CredentialsError(`The service refused the login (status ${status}).`, { ...details, fix });
  }
  const message = `The login was answered with status ${status} and no login result.`;
  throw new CredentialsError(message, { ...details, fix: 'check LEAGUE_SYNC_BASE_URL' });
}

const FIELDS = Object.keys(LOGIN_RESULT.shape);

/** The expiry that a login answer names, in ms; everything odd about the answer is noted as drift. */
function readExpiry(body: JsonObject, { drift, secrets }: Connection): number | undefined {
  const note = (name: string, kind: Drift['kind'], detail: string): void =>
    drift.note([{ field: `login.${name}`, kind, detail }]);
  drift.note(unknownFields(body, FIELDS, 'login', secrets.scrub));
  for (const name of FIELDS) if (body[name] === undefined) note(name, 'missing-field', 'absent for string');
  const { expire_datetime: sent } = body;
  const expiresAt = typeof sent === 'string' ? parseInstant(sent) : undefined;
  if (sent !== undefined && typeof sent !== 'string')
    note('expire_datetime', 'wrong-type', `${typeName(sent)} for string`);
  else if (sent !== undefined && expiresAt === undefined)
    note('expire_datetime', 'unexpected-value', 'string that is no ISO 8601 instant');
  return expiresAt;
}

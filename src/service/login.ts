import type { Credentials } from '../config/credentials.ts';
import { ContractError, CredentialsError, RetryAfterError, RunError, StatusError, toRunError } from '../errors.ts';
import { isTransient, readObject, serverTime } from '../http/response.ts';
import type { Drift } from '../league/drift.ts';
import { type JsonObject, typeName } from '../league/json.ts';
import { LOGIN_RESPONSE } from '../league/response-schemas.ts';
import { parseTimestamp } from '../time/clock.ts';
import type { ServiceConnection, ServiceResponse } from './connection.ts';
import { unknownFields } from './detect-drift.ts';
import { describeUnexpected, readFailureDetails } from './failure.ts';
import { hasExpiredOnArrival, type Token } from './token-expiry.ts';

/** `manual`: an operator ran a command or sent SIGHUP. */
export type LoginReason = 'start' | 'due' | 'rejected-token' | 'manual';

export type LoginRecord = Partial<Pick<Token, 'expiresAt' | 'clockSkewMs'>> & {
  readonly at: number;
  readonly reason: LoginReason;
  /** The run that asked for the login first; null if none did. */
  readonly runId: number | null;
  readonly outcome: 'ok' | 'refused' | 'failed';
  readonly expiredOnArrival?: boolean;
  /** Undefined after a success, or if the worker was stopped. */
  readonly error?: RunError | undefined;
  readonly errorMessage?: string;
};

/** `runId` is called when the login ends: a run may have asked for it meanwhile. */
type LoginCause = Pick<LoginRecord, 'reason'> & { readonly runId: () => LoginRecord['runId'] };

export type LogIn = ReturnType<typeof createLogIn>;

/** Logs in once; rejects like `signal`, or with a RunError. `onLogin` gets each login that was sent or refused. */
export function createLogIn(connection: ServiceConnection, onLogin: (login: LoginRecord) => void) {
  return async ({ reason, runId }: LoginCause, credentials: Credentials, signal: AbortSignal): Promise<Token> => {
    const at = connection.clock.now();
    const record = (result: Omit<LoginRecord, 'at' | 'reason' | 'runId'>): void =>
      onLogin({ at, reason, runId: runId(), ...result });
    try {
      const token = await requestToken(credentials, signal, connection);
      const { expiresAt, clockSkewMs } = token;
      record({ outcome: 'ok', expiresAt, clockSkewMs, expiredOnArrival: hasExpiredOnArrival(token) });
      return token;
    } catch (error) {
      if (error instanceof RetryAfterError) throw error;
      if (signal.aborted) {
        const why = signal.reason instanceof Error ? ` ${signal.reason.message}` : '';
        const cause = signal.reason instanceof RunError ? signal.reason : undefined;
        record({ outcome: 'failed', error: cause, errorMessage: `The login was interrupted.${why}` });
        throw error;
      }
      const failure = toRunError(error);
      // A CredentialsError without a status means that a secret was unreadable and nothing was sent.
      const isRefused = failure instanceof CredentialsError && failure.httpStatus !== undefined;
      const outcome = isRefused ? 'refused' : 'failed';
      record({ outcome, error: failure, errorMessage: failure.message });
      throw failure;
    }
  };
}

async function requestToken(
  credentials: Credentials,
  signal: AbortSignal,
  connection: ServiceConnection,
): Promise<Token> {
  const { clock, secrets, transport } = connection;
  const { username, password } = credentials.read();
  const pair = Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
  secrets.addCredentials(username, password, pair);

  const sentAt = { wall: clock.now(), monotonic: clock.monotonic() };
  const path = '/players/v1/authenticate/login';
  const headers = { 'content-type': 'application/json', authorization: `Basic ${pair}` };
  const sent = JSON.stringify({ attribute: 'username' });
  const purpose = 'logging in';
  const response = await transport({ method: 'POST', path, headers, body: sent, purpose }, signal);
  const body = await readObject(response.body);
  assertSuccess(response, body, connection);
  const { data } = LOGIN_RESPONSE.safeParse(body);
  if (body === undefined || data === undefined) {
    const message = 'The login succeeded, but its answer has no usable access_token.';
    throw new ContractError(message, { httpStatus: response.status, quoted: response.via });
  }
  secrets.addTokens(data.access_token, data.refresh_token ?? '');
  const expiresAt = readExpiry(body, connection);
  const serverNow = serverTime(response);
  return {
    accessToken: data.access_token,
    sentAt,
    loginDurationMs: clock.monotonic() - sentAt.monotonic,
    expiresAt,
    lifetimeMs: expiresAt === undefined ? undefined : expiresAt - (serverNow ?? sentAt.wall),
    clockSkewMs: serverNow === undefined ? undefined : skewOf(serverNow, (sentAt.wall + clock.now()) / 2),
  };
}

/** The `Date` header has a resolution of one second, so smaller differences cannot be measured. */
const DATE_RESOLUTION_MS = 1_000;

/** How far (ms) the service's clock is ahead of ours: negative if it is behind, 0 if the skew is below a second. */
function skewOf(serverNow: number, now: number): number {
  const skewMs = Math.round(serverNow + DATE_RESOLUTION_MS / 2 - now);
  return Math.abs(skewMs) < DATE_RESOLUTION_MS ? 0 : skewMs;
}

/** Throws a CredentialsError if the credentials were refused; a StatusError or a ContractError if anything else failed. */
function assertSuccess(response: ServiceResponse, body: JsonObject | undefined, connection: ServiceConnection): void {
  const { status } = response;
  const isDenied = status === 401 || status === 403;
  if (!isDenied && !isTransient(status) && body?.result === 'success') return;
  const details = readFailureDetails(response, body, connection);
  if (isTransient(status))
    throw new StatusError(true, `The service answered the login with status ${status}.`, details);
  if (!isDenied && body?.result !== 'fail') throw describeUnexpected('POST', response, connection, body);
  const fix = 'check LEAGUE_SYNC_USERNAME and LEAGUE_SYNC_PASSWORD, and that API access is enabled for this account';
  throw new CredentialsError(`The service refused the login (status ${status}).`, { ...details, fix });
}

/** `expire_datetime` in ms; undefined if it is missing or unreadable. Adds the response's drift to the drift log. */
function readExpiry(body: JsonObject, { drift, secrets }: ServiceConnection): number | undefined {
  const add = (name: string, kind: Drift['kind'], detail: string): void =>
    drift.add([{ field: `login.${name}`, kind, detail }]);
  drift.add(unknownFields(body, LOGIN_RESPONSE.shape, 'login', secrets.scrub));
  for (const name of Object.keys(LOGIN_RESPONSE.shape))
    if (body[name] === undefined) add(name, 'missing-field', 'not sent');
  const { expire_datetime: sent } = body;
  if (sent === undefined) return undefined;
  const expiresAt = typeof sent === 'string' ? parseTimestamp(sent) : undefined;
  if (typeof sent !== 'string') add('expire_datetime', 'wrong-type', `${typeName(sent)} for string`);
  else if (expiresAt === undefined) add('expire_datetime', 'unexpected-value', 'string that is no ISO 8601 instant');
  return expiresAt;
}

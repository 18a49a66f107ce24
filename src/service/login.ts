import type { Clock } from '../clock.ts';
import type { Credentials } from '../config/credentials.ts';
import type { Drift, DriftLog } from '../drift.ts';
import { ContractError, CredentialsError, PausedError, RunError, StatusError, toRunError } from '../errors.ts';
import { LOGIN_RESULT } from '../interface.ts';
import { type JsonObject, typeName } from '../json.ts';
import type { Secrets } from '../redact.ts';
import { parseInstant } from '../time/timestamp.ts';
import { type Answer, isTransient, readObject, serverClock } from './answer.ts';
import { unknownFields } from './coerce.ts';
import { heed, quote } from './failure.ts';
import type { Pause } from './pause.ts';
import { type Deadline, retry } from './retry.ts';
import { isBornDead, type Token } from './token.ts';
import type { Transport } from './transport.ts';

export type LoginReason = 'start' | 'due' | 'rejected-token' | 'manual';

/** One login as it is recorded: never a token. */
export type LoginRecord = {
  readonly at: number;
  readonly reason: LoginReason;
  readonly outcome: 'ok' | 'refused' | 'failed';
  readonly expiresAt?: number | undefined;
  readonly clockSkewMs?: number | undefined;
  /** The token had expired, or all but, when it arrived. */
  readonly bornDead?: boolean;
  readonly errorMessage?: string;
  /** Instant (ms) before which the service asked not to be called again. */
  readonly notBefore?: number | undefined;
};

/** A login that was given up, after all its attempts. */
export type LoginFailure = {
  readonly reason: LoginReason;
  readonly outcome: 'refused' | 'failed';
  readonly error: RunError;
};

/**
 * Logs in, retrying what passes; the credentials are read anew for each attempt. Rejects with a CredentialsError where
 * the service refuses, or where they cannot be read.
 */
export type LogIn = (reason: LoginReason, deadline: Deadline, credentials: Credentials) => Promise<Token>;

export type LoginOptions = {
  readonly transport: Transport;
  readonly secrets: Secrets;
  readonly drift: DriftLog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pause: Pause;
  /** Called once for every login that was sent, retries included. */
  readonly record: (login: LoginRecord) => void;
  /** Called once for all attempts together where none succeeded; not where nothing could be sent. */
  readonly onFailure?: ((failure: LoginFailure) => void) | undefined;
};

const PATH = '/players/v1/authenticate/login';
const FIELDS = Object.keys(LOGIN_RESULT.shape);
/** The `Date` header counts whole seconds: no smaller difference can be told from none. */
const CLOCK_STEP_MS = 1_000;

export function createLogIn(options: LoginOptions): LogIn {
  return async (reason, deadline, credentials) => {
    const attempt = { reason, credentials, signal: deadline.signal };
    try {
      return await retry(() => recordedLogin(attempt, options), { ...options, deadline });
    } catch (error) {
      const wasSent = error instanceof RunError && !(error instanceof PausedError);
      if (wasSent) options.onFailure?.({ reason, outcome: outcomeOf(error), error });
      throw error;
    }
  };
}

type Attempt = { readonly reason: LoginReason; readonly credentials: Credentials; readonly signal: AbortSignal };

async function recordedLogin(attempt: Attempt, options: LoginOptions): Promise<Token> {
  const { reason, signal } = attempt;
  const at = options.clock.now();
  try {
    const token = await login(attempt, options);
    const { expiresAt, clockSkewMs } = token;
    options.record({ at, reason, outcome: 'ok', expiresAt, clockSkewMs, bornDead: isBornDead(token) });
    return token;
  } catch (error) {
    if (error instanceof PausedError) throw error;
    const failure = signal.aborted ? undefined : toRunError(error);
    options.record({
      at,
      reason,
      outcome: outcomeOf(failure),
      errorMessage: failure?.message ?? describeEnd(signal.reason),
      notBefore: failure?.notBefore,
    });
    throw failure ?? error;
  }
}

/** A secret that cannot be read has not been refused by anybody: no answer, no refusal. */
function outcomeOf(failure: RunError | undefined): 'refused' | 'failed' {
  return failure instanceof CredentialsError && failure.httpStatus !== undefined ? 'refused' : 'failed';
}

/** Why a login that was under way was cut short. */
function describeEnd(reason: unknown): string {
  return reason instanceof Error ? `The login was cut short. ${reason.message}` : 'The login was cut short.';
}

async function login({ credentials, signal }: Attempt, options: LoginOptions): Promise<Token> {
  const { clock, secrets } = options;
  const { username, password } = credentials.read();
  const pair = Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
  secrets.addCredentials(username, password, pair);

  const sentAt = { wall: clock.now(), monotonic: clock.monotonic() };
  const answer = await options.transport(
    {
      method: 'POST',
      path: PATH,
      headers: { 'content-type': 'application/json', authorization: `Basic ${pair}` },
      body: JSON.stringify({ attribute: 'username' }),
    },
    signal,
  );
  const body = await readObject(answer);
  refuseFailure(answer, body, options);
  const tokens = LOGIN_RESULT.safeParse(body);
  if (!tokens.success)
    throw new ContractError('The login succeeded, but its answer holds no access_token that can be sent.', {
      httpStatus: answer.status,
    });
  secrets.addTokens(tokens.data.access_token, tokens.data.refresh_token ?? '');
  const expiresAt = readExpiry(body ?? {}, options);
  const server = serverClock(answer, clock.now());
  return {
    accessToken: tokens.data.access_token,
    sentAt,
    tookMs: clock.monotonic() - sentAt.monotonic,
    expiresAt,
    lifetimeMs: expiresAt === undefined ? undefined : expiresAt - (server ?? sentAt.wall),
    clockSkewMs: server === undefined ? undefined : skewOf(server, (sentAt.wall + clock.now()) / 2),
  };
}

/** How far (ms) the service's clock is ahead of ours; on average the truth lies in the middle of its second. */
function skewOf(server: number, now: number): number {
  const skewMs = Math.round(server + CLOCK_STEP_MS / 2 - now);
  return Math.abs(skewMs) < CLOCK_STEP_MS ? 0 : skewMs;
}

/** Throws unless the login succeeded (contract, 4): what passes by itself is no refusal. */
function refuseFailure(answer: Answer, body: JsonObject | undefined, options: LoginOptions): void {
  const { status } = answer;
  const refused = status === 401 || status === 403 || body?.result !== 'success';
  if (!refused && !isTransient(status)) return;
  const words = heed(answer, body, options);
  const details = { httpStatus: status, ...words, quoted: quote(words) };
  if (isTransient(status)) {
    throw new StatusError(true, `The service answered the login with status ${status}.`, details);
  }
  const isAnswer = status === 401 || status === 403 || (body?.result === 'fail' && status !== 404);
  const what = isAnswer
    ? `The service refused the login (status ${status}).`
    : `The login was answered with status ${status} and no login result.`;
  const fix = isAnswer
    ? 'check LEAGUE_SYNC_USERNAME and LEAGUE_SYNC_PASSWORD, and that API access is enabled for this account'
    : 'check LEAGUE_SYNC_BASE_URL';
  throw new CredentialsError(what, { ...details, fix });
}

/** The expiry that a login answer names, in ms; everything odd about the answer is noted as drift. */
function readExpiry(body: JsonObject, { drift, secrets }: LoginOptions): number | undefined {
  drift.note(unknownFields(body, FIELDS, 'login', secrets.scrub));
  drift.note(FIELDS.filter((name) => body[name] === undefined).map(missing));
  const sent = body.expire_datetime;
  if (sent === undefined) return undefined;
  if (typeof sent !== 'string') {
    drift.note([{ field: 'login.expire_datetime', kind: 'wrong-type', detail: `${typeName(sent)} for string` }]);
    return undefined;
  }
  const expiresAt = parseInstant(sent);
  if (expiresAt === undefined) {
    const detail = 'string that is no ISO 8601 instant';
    drift.note([{ field: 'login.expire_datetime', kind: 'unexpected-value', detail }]);
  }
  return expiresAt;
}

function missing(name: string): Drift {
  return { field: `login.${name}`, kind: 'missing-field', detail: 'absent for string' };
}

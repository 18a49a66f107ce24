import * as z from 'zod';
import type { Clock } from '../clock.ts';
import type { Credentials } from '../config/credentials.ts';
import type { Drift, DriftLog } from '../drift.ts';
import { ContractError, CredentialsError, PausedError, StatusError, toRunError } from '../errors.ts';
import { parseInstant } from '../instant.ts';
import { type JsonObject, typeName } from '../json.ts';
import type { Secrets } from '../secret.ts';
import { type Answer, isTransient, quoteSaid, readMessage, readObject, readRetryAfter, serverClock } from './answer.ts';
import { unknownFields } from './field.ts';
import { type Deadline, retry } from './retry.ts';
import type { Token } from './token.ts';
import type { Transport } from './transport.ts';

export type LoginReason = 'start' | 'due' | 'rejected-token' | 'manual';

/** One login as it is recorded: never a token. */
export type LoginRecord = {
  readonly at: number;
  readonly reason: LoginReason;
  readonly outcome: 'ok' | 'refused' | 'failed';
  readonly expiresAt?: number | undefined;
  readonly clockSkewMs?: number | undefined;
  readonly errorMessage?: string;
  /** Instant (ms) before which the service asked not to be called again. */
  readonly notBefore?: number | undefined;
};

/** Logs in, retrying what passes. Rejects with a CredentialsError where the service refuses. */
export type LogIn = (reason: LoginReason, deadline: Deadline) => Promise<Token>;

export type LoginOptions = {
  readonly transport: Transport;
  readonly credentials: Credentials;
  readonly secrets: Secrets;
  readonly drift: DriftLog;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called once for every login that was sent, retries included. */
  readonly record: (login: LoginRecord) => void;
};

const PATH = '/players/v1/authenticate/login';
const FIELDS: readonly string[] = [
  'result',
  'message',
  'player_id',
  'access_token',
  'refresh_token',
  'expire_datetime',
];
/** The `Date` header counts whole seconds; on average the truth lies in the middle. */
const HALF_A_SECOND_MS = 500;

const success = z.looseObject({
  // Nothing else can stand in a header.
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  refresh_token: z.string().optional().catch(undefined),
});

export function createLogIn(options: LoginOptions): LogIn {
  return (reason, deadline) => retry(() => recordedLogin(reason, deadline.signal, options), { ...options, deadline });
}

async function recordedLogin(reason: LoginReason, signal: AbortSignal, options: LoginOptions): Promise<Token> {
  const at = options.clock.now();
  try {
    const token = await login(signal, options);
    options.record({ at, reason, outcome: 'ok', expiresAt: token.expiresAt, clockSkewMs: token.clockSkewMs });
    return token;
  } catch (error) {
    if (error instanceof PausedError) throw error;
    const failure = signal.aborted ? undefined : toRunError(error);
    options.record({
      at,
      reason,
      // A secret that cannot be read has not been refused by anybody: no answer, no refusal.
      outcome: failure instanceof CredentialsError && failure.httpStatus !== undefined ? 'refused' : 'failed',
      errorMessage: failure?.message ?? 'The login was cut short: its time was up, or the worker stopped.',
      notBefore: failure?.notBefore,
    });
    throw failure ?? error;
  }
}

async function login(signal: AbortSignal, options: LoginOptions): Promise<Token> {
  const { clock, secrets } = options;
  const { username, password } = options.credentials.read();
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
  const body = readObject(answer);
  refuseFailure(answer, body, options);
  const tokens = success.safeParse(body);
  if (!tokens.success)
    throw new ContractError('The login succeeded, but its answer holds no access_token that can be sent.', {
      httpStatus: answer.status,
    });
  secrets.addTokens(tokens.data.access_token, tokens.data.refresh_token ?? '');
  const expiresAt = readExpiry(body ?? {}, options);
  const server = serverClock(answer, clock.now());
  const middle = (sentAt.wall + clock.now()) / 2;
  return {
    accessToken: tokens.data.access_token,
    sentAt,
    expiresAt,
    lifetimeMs: expiresAt === undefined ? undefined : expiresAt - (server ?? sentAt.wall),
    clockSkewMs: server === undefined ? undefined : Math.round(server + HALF_A_SECOND_MS - middle),
  };
}

/** Throws unless the login succeeded (contract, 4): what passes by itself is no refusal. */
function refuseFailure(answer: Answer, body: JsonObject | undefined, { secrets, clock }: LoginOptions): void {
  const said = { serviceMessage: readMessage(body, secrets.scrub), notBefore: readRetryAfter(answer, clock.now()) };
  const details = { httpStatus: answer.status, ...said };
  if (isTransient(answer.status)) {
    throw new StatusError(
      true,
      `The service answered the login with status ${answer.status}.${quoteSaid(said)}`,
      details,
    );
  }
  const refused = answer.status === 401 || answer.status === 403 || body?.result !== 'success';
  if (!refused) return;
  const hint =
    answer.status === 401 || answer.status === 403 || (body?.result === 'fail' && answer.status !== 404)
      ? 'check LEAGUE_SYNC_USERNAME and LEAGUE_SYNC_PASSWORD, and that API access is enabled for this account'
      : 'that is no login answer; check LEAGUE_SYNC_BASE_URL';
  throw new CredentialsError(
    `The service refused the login (status ${answer.status}); ${hint}.${quoteSaid(said)}`,
    details,
  );
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

import type { Scope } from '../config/config.ts';
import { ContractError, CredentialsError, RetryAfterError, StatusError } from '../errors.ts';
import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Secrets } from '../redact.ts';
import type { Resource } from './backoff.ts';
import {
  describeNonObject,
  type HttpResponse,
  isSuccess,
  isTransient,
  readFailureDetails,
  readMessage,
  readObject,
} from './response.ts';
import { type Deadline, retry } from './retry.ts';
import type { Connection } from './service.ts';
import type { Session } from './session.ts';
import type { Token } from './token.ts';

/** What the interface offers to a logged-in player. Every answer has been checked for `result=fail` (section 7). */
export type Client = {
  /** Section 4.3; `all` sends no filter. Undefined where the list is still the one that the validators stand for. */
  readonly fetchLeagues: (
    scope: Scope,
    deadline: Deadline,
    trace: Trace,
    validators?: Validators,
  ) => Promise<Fetched | undefined>;
  /** Section 4.2. */
  readonly fetchProfile: (deadline: Deadline, trace: Trace) => Promise<Fetched>;
};

/** What stands for a version of the list, where the service says it: `ETag` and `Last-Modified`. */
export type Validators = { readonly etag: string | undefined; readonly lastModified: string | undefined };

/** A successful answer. */
export type Fetched = Validators & {
  readonly body: JsonObject;
  readonly message: string | undefined;
  readonly timestamp: string | undefined;
};

/** What a run has sent and got so far, also where it fails. */
export type Trace = {
  attempts: number;
  /** Of the last request, where it was answered. */
  httpStatus?: number | undefined;
  bodyBytes?: number | undefined;
};

/** As much of a session as requests need. */
export type TokenSource = Pick<Session, 'token' | 'accept' | 'discard' | 'reportRejected'>;

export type ClientOptions = Connection & { readonly session: TokenSource };

export function createClient(options: ClientOptions): Client {
  const get = (query: Query, deadline: Deadline, trace: Trace): Promise<Fetched | undefined> =>
    retry(() => authorizedGet(query, { signal: deadline.signal, trace }, options), { ...options, deadline });
  return {
    fetchLeagues: (scope, deadline, trace, validators) => {
      const path = `/events/v1/leagues/${scope === 'all' ? '' : `?status=${scope}`}`;
      return get({ resource: 'leagues', path, conditions: conditionsOf(validators) }, deadline, trace);
    },
    fetchProfile: async (deadline, trace) => {
      const query: Query = { resource: 'profile', path: '/players/v1/players/player/me', conditions: {} };
      const fetched = await get(query, deadline, trace);
      if (fetched === undefined)
        throw new Error('a profile that nothing was conditional about came back as unmodified');
      return fetched;
    },
  };
}

/** A path, and the headers that ask for it on conditions. */
type Query = {
  readonly resource: Resource;
  readonly path: string;
  readonly conditions: Readonly<Record<string, string>>;
};

function conditionsOf(validators: Validators | undefined): Query['conditions'] {
  const { etag, lastModified } = validators ?? {};
  return {
    ...(isSendable(etag) ? { 'if-none-match': etag } : {}),
    ...(isSendable(lastModified) ? { 'if-modified-since': lastModified } : {}),
  };
}

/** A header that was received may hold what none may that is sent. */
function isSendable(value: string | undefined): value is string {
  return value !== undefined && /^[\x20-\x7e]{1,1000}$/.test(value);
}

type Attempt = { readonly signal: AbortSignal; readonly trace: Trace };

/** One request with a live token; a rejected token is replaced once and the request repeated (contract, 4). */
async function authorizedGet(query: Query, attempt: Attempt, options: ClientOptions): Promise<Fetched | undefined> {
  const { session } = options;
  const { resource } = query;
  let { token, isTrial } = await session.token(resource, attempt.signal);
  let read = await send(query, token, attempt, options);
  // A Retry-After of this answer holds for the login, too.
  let rejection = findRejection(read, query, options);
  if (rejection !== undefined && !isTrial) {
    session.discard(token);
    ({ token } = await session.token(resource, attempt.signal));
    read = await send(query, token, attempt, options);
    rejection = findRejection(read, query, options);
  }
  if (rejection !== undefined) throw session.reportRejected(resource, token, rejection);
  return readSuccess(read, query, options);
}

/** The body is undefined if it is no JSON object. */
type Read = { readonly response: HttpResponse; readonly body: JsonObject | undefined };

async function send(query: Query, token: Token, { signal, trace }: Attempt, options: ClientOptions): Promise<Read> {
  const { path, conditions } = query;
  const headers = { authorization: `Bearer ${token.accessToken}`, ...conditions };
  trace.attempts += 1;
  trace.httpStatus = undefined;
  trace.bodyBytes = undefined;
  const response = await options.transport({ method: 'GET', path, headers }, signal).catch((error: unknown) => {
    if (error instanceof RetryAfterError) trace.attempts -= 1;
    throw error;
  });
  trace.httpStatus = response.status;
  trace.bodyBytes = response.body.length;
  return { response, body: await readObject(response, options.secrets.scrubTokens, signal) };
}

/** The error of a rejected token; undefined if it was not rejected. */
function findRejection(
  { response, body }: Read,
  { path }: Query,
  options: ClientOptions,
): CredentialsError | undefined {
  const { status } = response;
  const isFailed = body?.result === 'fail' && !isTransient(status);
  if (status !== 401 && status !== 403 && !isFailed) return undefined;
  const told = `status ${status}${body?.result === 'fail' ? ', result=fail' : ''}`;
  return new CredentialsError(`The service rejected GET ${path} with a fresh token too (${told}).`, {
    ...readFailureDetails(response, body, options),
    fix: 'check that API access is enabled for this account',
  });
}

/** Undefined where the answer is that nothing has changed, and this was asked. */
function readSuccess(
  { response, body }: Read,
  { resource, path, conditions }: Query,
  options: ClientOptions,
): Fetched | undefined {
  const { secrets, session } = options;
  const { status, header } = response;
  const request = `GET ${path}`;
  if (status === 304) {
    if (Object.keys(conditions).length === 0) {
      const message = `${request} was answered with status 304, though nothing conditional was asked.`;
      throw new ContractError(message, { httpStatus: 304 });
    }
    session.accept(resource);
    return undefined;
  }
  if (!isSuccess(status)) {
    const details = readFailureDetails(response, body, options);
    const fix = isRedirect(status) ? 'check LEAGUE_SYNC_BASE_URL' : undefined;
    throw new StatusError(isTransient(status), describeStatus(response, request, secrets), { ...details, fix });
  }
  if (body === undefined) {
    readFailureDetails(response, body, options);
    throw describeNonObject(response, request, secrets.scrub);
  }
  session.accept(resource);
  return {
    body,
    message: readMessage(body, secrets.scrub),
    timestamp: readTimestamp(body.timestamp, secrets),
    etag: readValidator(header('etag'), secrets),
    lastModified: readValidator(header('last-modified'), secrets),
  };
}

function describeStatus({ status, header }: HttpResponse, request: string, secrets: Secrets): string {
  if (!isRedirect(status)) return `The service answered ${request} with status ${status}.`;
  return `${request} was redirected (status ${status})${redirectTarget(header('location'), secrets)}, and redirects are not followed, so that credentials go nowhere else.`;
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** The origin alone: the rest of a location may carry anything. */
function redirectTarget(location: string | undefined, { scrub }: Secrets): string {
  const origin = location === undefined ? undefined : URL.parse(location)?.origin;
  // What is spelt out in the host may be a secret that the text as it was sent hides.
  const isClean = origin !== undefined && scrub(`${location} ${origin}`) === `${location} ${origin}`;
  return isClean ? ` to ${origin}` : '';
}

/** The interface allows any type here (4.3); a text is kept as it is, anything else as its JSON. */
function readTimestamp(sent: JsonValue | undefined, { scrub }: Secrets): string | undefined {
  if (sent === undefined || sent === null) return undefined;
  if (typeof sent === 'string') return scrub(sent).slice(0, LONGEST_TIMESTAMP);
  if (isObject(sent) || Array.isArray(sent)) {
    if (isDeeperThan(sent, DEEPEST_TIMESTAMP)) return undefined;
  }
  return scrub(JSON.stringify(sent)).slice(0, LONGEST_TIMESTAMP);
}

const LONGEST_TIMESTAMP = 500;
const DEEPEST_TIMESTAMP = 8;

function readValidator(value: string | undefined, { scrub }: Secrets): string | undefined {
  return value !== undefined && scrub(value) === value ? value : undefined;
}

import type { Scope } from '../config/config.ts';
import { ContractError, CredentialsError, RetryAfterError, StatusError } from '../errors.ts';
import { isDeeperThan, type JsonObject, type JsonValue } from '../json.ts';
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
  /** Section 4.3; `all` sends no filter. */
  readonly fetchLeagues: (scope: Scope, deadline: Deadline, trace: Trace) => Promise<Fetched>;
  /** The same; undefined if the list is still the one that the validators stand for. */
  readonly fetchLeaguesIfChanged: (
    scope: Scope,
    validators: Validators | undefined,
    deadline: Deadline,
    trace: Trace,
  ) => Promise<Fetched | undefined>;
  /** Section 4.2. */
  readonly fetchProfile: (deadline: Deadline, trace: Trace) => Promise<Fetched>;
};

/** What stands for a version of the list, if the service says it: `ETag` and `Last-Modified`. */
export type Validators = { readonly etag: string | undefined; readonly lastModified: string | undefined };

/** A successful answer. */
export type Fetched = Validators & {
  readonly body: JsonObject;
  readonly message: string | undefined;
  readonly timestamp: string | undefined;
};

/** What a run has sent and received so far, also if it fails. */
export type Trace = {
  attempts: number;
  /** Of the last request, if it was answered. */
  httpStatus?: number | undefined;
  bodyBytes?: number | undefined;
};

/** As much of a session as requests need. */
export type TokenSource = Pick<Session, 'token' | 'accept' | 'discard' | 'reportRejected'>;

export type ClientOptions = Connection & { readonly session: TokenSource };

export function createClient(options: ClientOptions): Client {
  const get = (query: Query): Promise<Fetched | undefined> =>
    retry(() => authorizedGet(query, options), { ...options, deadline: query.deadline });
  const getWhole = async (query: Omit<Query, 'conditions'>): Promise<Fetched> => {
    const fetched = await get({ ...query, conditions: {} });
    if (fetched === undefined) throw new Error('a 304 that was not asked for is a failure');
    return fetched;
  };
  return {
    fetchLeagues: (scope, deadline, trace) =>
      getWhole({ resource: 'leagues', path: leaguesPath(scope), deadline, trace }),
    fetchLeaguesIfChanged: (scope, validators, deadline, trace) =>
      get({ resource: 'leagues', path: leaguesPath(scope), conditions: conditionsOf(validators), deadline, trace }),
    fetchProfile: (deadline, trace) =>
      getWhole({ resource: 'profile', path: '/players/v1/players/player/me', deadline, trace }),
  };
}

function leaguesPath(scope: Scope): string {
  return `/events/v1/leagues/${scope === 'all' ? '' : `?status=${scope}`}`;
}

type Query = {
  readonly resource: Resource;
  readonly path: string;
  /** The headers that ask for it on conditions. */
  readonly conditions: Readonly<Record<string, string>>;
  readonly deadline: Deadline;
  readonly trace: Trace;
};

function conditionsOf({ etag, lastModified }: Partial<Validators> = {}): Query['conditions'] {
  const headers = { 'if-none-match': etag, 'if-modified-since': lastModified };
  // A header that was received may hold what none may that is sent.
  const isSendable = (value: string | undefined): boolean => /^[\x20-\x7e]{1,1000}$/.test(value ?? '');
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => isSendable(value))) as Query['conditions'];
}

/** One request with a live token; a rejected token is replaced once and the request repeated (contract, 4). */
async function authorizedGet(query: Query, options: ClientOptions): Promise<Fetched | undefined> {
  const { session } = options;
  const { resource, deadline } = query;
  let { token, isTrial } = await session.token(resource, deadline.signal);
  let answer = await send(query, token, options);
  // A Retry-After of this answer holds for the login, too.
  let rejection = findRejection(answer, query, options);
  if (rejection !== undefined && !isTrial) {
    session.discard(token);
    ({ token } = await session.token(resource, deadline.signal));
    answer = await send(query, token, options);
    rejection = findRejection(answer, query, options);
  }
  if (rejection !== undefined) throw session.reportRejected(resource, token, rejection);
  const fetched = readSuccess(answer, query, options);
  session.accept(resource);
  return fetched;
}

/** The body is undefined if it is no JSON object. */
type Answer = { readonly response: HttpResponse; readonly body: JsonObject | undefined };

async function send({ path, conditions, deadline, trace }: Query, token: Token, options: Connection): Promise<Answer> {
  const { signal } = deadline;
  const headers = { authorization: `Bearer ${token.accessToken}`, ...conditions };
  Object.assign(trace, { attempts: trace.attempts + 1, httpStatus: undefined, bodyBytes: undefined });
  const response = await options.transport({ method: 'GET', path, headers }, signal).catch((error: unknown) => {
    if (error instanceof RetryAfterError) trace.attempts -= 1;
    throw error;
  });
  Object.assign(trace, { httpStatus: response.status, bodyBytes: response.body.length });
  return { response, body: await readObject(response, options.secrets.scrubTokens, signal) };
}

/** The error of a rejected token; undefined if it was not rejected. */
function findRejection({ response, body }: Answer, { path }: Query, options: Connection): CredentialsError | undefined {
  const { status } = response;
  const isFailed = body?.result === 'fail' && !isTransient(status);
  if (status !== 401 && status !== 403 && !isFailed) return undefined;
  const told = `status ${status}${body?.result === 'fail' ? ', result=fail' : ''}`;
  return new CredentialsError(`The service rejected GET ${path} with a fresh token too (${told}).`, {
    ...readFailureDetails(response, body, options),
    fix: 'check that API access is enabled for this account',
  });
}

/** Undefined if the answer is that nothing has changed, and this was asked. */
function readSuccess(
  { response, body }: Answer,
  { path, conditions }: Query,
  options: Connection,
): Fetched | undefined {
  const { secrets } = options;
  const { status, header } = response;
  const request = `GET ${path}`;
  if (status === 304) {
    if (Object.keys(conditions).length > 0) return undefined;
    const message = `${request} was answered with status 304, though nothing conditional was asked.`;
    throw new ContractError(message, { httpStatus: 304 });
  }
  if (body !== undefined && isSuccess(status))
    return {
      body,
      message: readMessage(body, secrets.scrub),
      timestamp: readTimestamp(body.timestamp, secrets),
      etag: readValidator(header('etag'), secrets),
      lastModified: readValidator(header('last-modified'), secrets),
    };
  const details = readFailureDetails(response, body, options);
  if (isSuccess(status)) throw describeNonObject(response, request, secrets.scrub);
  const fix = isRedirect(status) ? 'check LEAGUE_SYNC_BASE_URL' : undefined;
  throw new StatusError(isTransient(status), describeStatus(response, request, secrets), { ...details, fix });
}

function describeStatus({ status, header }: HttpResponse, request: string, secrets: Secrets): string {
  if (!isRedirect(status)) return `The service answered ${request} with status ${status}.`;
  return `${request} was redirected (status ${status})${redirectTarget(header('location'), secrets)}, and redirects are not followed, so that credentials go nowhere else.`;
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** Only the origin: the rest of a location may carry anything. */
function redirectTarget(location: string | undefined, { scrub }: Secrets): string {
  const origin = location === undefined ? undefined : URL.parse(location)?.origin;
  // What is spelt out in the host may be a secret that the text as it was sent hides.
  const isClean = origin !== undefined && scrub(`${location} ${origin}`) === `${location} ${origin}`;
  return isClean ? ` to ${origin}` : '';
}

const LONGEST_TIMESTAMP = 500;
const DEEPEST_TIMESTAMP = 8;

/** The interface allows any type here (4.3); a text is kept as it is, anything else as its JSON. */
function readTimestamp(sent: JsonValue | undefined, { scrub }: Secrets): string | undefined {
  if (sent === undefined || sent === null || isDeeperThan(sent, DEEPEST_TIMESTAMP)) return undefined;
  return scrub(typeof sent === 'string' ? sent : JSON.stringify(sent)).slice(0, LONGEST_TIMESTAMP);
}

function readValidator(value: string | undefined, { scrub }: Secrets): string | undefined {
  return value !== undefined && scrub(value) === value ? value : undefined;
}

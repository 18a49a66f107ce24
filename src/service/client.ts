import type { Scope } from '../config/config.ts';
import { ContractError, CredentialsError, RetryAfterError, StatusError } from '../errors.ts';
import { isDeeperThan, type JsonObject, type JsonValue } from '../league/json.ts';
import type { Secrets } from '../redact.ts';
import type { Resource } from './backoff.ts';
import type { Connection } from './open-service.ts';
import { describeNonObject, isSuccess, isTransient, readFailureDetails, readMessage, readObject } from './response.ts';
import { type Deadline, retry } from './retry.ts';
import type { Session } from './session.ts';
import type { Token } from './token.ts';

/** `ETag` and `Last-Modified` of a response, for conditional requests. */
export type Validators = { readonly etag: string | undefined; readonly lastModified: string | undefined };

export type FetchResult = Validators & {
  readonly body: JsonObject;
  readonly message: string | undefined;
  readonly timestamp: string | undefined;
};

/** Updated by each request, so that failed runs have these numbers, too. */
export type RequestStats = {
  attempts: number;
  /** The status of the last response; undefined if none arrived, or if the body of a 2xx could not be read. */
  httpStatus?: number | undefined;
  bodyBytes?: number | undefined;
};

export type TokenSource = Pick<Session, 'token' | 'reportAccepted' | 'discard' | 'reportRejected'>;

export type Client = ReturnType<typeof createClient>;

export type FetchOptions = {
  readonly deadline: Deadline;
  readonly stats: RequestStats;
  /** The run that the request belongs to; undefined or null if there is none. */
  readonly runId?: number | null | undefined;
};

/** Sends the requests of a logged-in player. A response with `result=fail` is an error (interface, 7). */
export function createClient(connection: Connection, session: TokenSource) {
  const options = { ...connection, session };
  const getIfChanged = (request: ResourceRequest): Promise<FetchResult | undefined> =>
    retry(() => authorizedGet(request, options), { ...options, deadline: request.deadline });
  // Only a conditional request resolves to undefined.
  const get = getIfChanged as (request: Omit<ResourceRequest, 'conditions'>) => Promise<FetchResult>;
  return {
    /** Fetches the leagues (interface, 4.3). For the scope `all`, no filter is sent. */
    fetchLeagues: (scope: Scope, { deadline, stats, runId }: FetchOptions) =>
      get({ ...leagues(scope), deadline, stats, runId }),
    /** Resolves to undefined if validators were sent and the service answers with status 304 (not modified). */
    fetchLeaguesIfChanged: (scope: Scope, validators: Validators | undefined, options: FetchOptions) => {
      const { deadline, stats, runId } = options;
      return getIfChanged({ ...leagues(scope), conditions: conditionalHeaders(validators), deadline, stats, runId });
    },
    /** Fetches the profile (interface, 4.2). */
    fetchProfile: ({ deadline, stats, runId }: FetchOptions) =>
      get({ resource: 'profile', path: '/players/v1/players/player/me', deadline, stats, runId }),
  };
}

function leagues(scope: Scope) {
  return { resource: 'leagues', path: `/events/v1/leagues/${scope === 'all' ? '' : `?status=${scope}`}` } as const;
}

type ResourceRequest = FetchOptions & {
  readonly resource: Resource;
  readonly path: string;
  readonly conditions?: Readonly<Record<string, string>>;
};

/** Sends a request. If the token is rejected and `isTrial` is false, gets a new one and sends the request once more. */
async function authorizedGet(request: ResourceRequest, options: Connection & { readonly session: TokenSource }) {
  const { session } = options;
  const { resource, deadline, runId } = request;
  let { token, isTrial } = await session.token(resource, deadline.signal, runId);
  let response = await send(request, token, options);
  // If the token is rejected, `findRejection` also puts the response's Retry-After into effect: the login must obey it.
  let rejection = findRejection(response, request, options);
  if (rejection !== undefined && !isTrial) {
    session.discard(token);
    ({ token } = await session.token(resource, deadline.signal, runId));
    response = await send(request, token, options);
    rejection = findRejection(response, request, options);
  }
  if (rejection !== undefined) throw session.reportRejected(resource, token, rejection);
  const result = readSuccess(response, request, options);
  session.reportAccepted(resource);
  return result;
}

function conditionalHeaders({ etag, lastModified }: Partial<Validators> = {}): Readonly<Record<string, string>> {
  const headers = Object.entries({ 'if-none-match': etag, 'if-modified-since': lastModified });
  return Object.fromEntries(
    // Received headers may contain characters that must not be sent.
    headers.filter((header): header is [string, string] => /^[\x20-\x7e]{1,1000}$/.test(header[1] ?? '')),
  );
}

/** `json` is undefined if the body is not a JSON object or has too many values. */
type JsonResponse = Awaited<ReturnType<typeof send>>;

async function send(
  { path, conditions, deadline, stats }: ResourceRequest,
  token: Token,
  { transport, secrets }: Connection,
) {
  const { signal } = deadline;
  const headers = { authorization: `Bearer ${token.accessToken}`, ...conditions };
  Object.assign(stats, { attempts: stats.attempts + 1, httpStatus: undefined, bodyBytes: undefined });
  const response = await transport({ method: 'GET', path, headers }, signal).catch((error: unknown) => {
    if (error instanceof RetryAfterError) stats.attempts -= 1;
    throw error;
  });
  Object.assign(stats, { httpStatus: response.status, bodyBytes: response.body.length });
  return { ...response, json: await readObject(response.body, secrets.scrubTokens, signal) };
}

function findRejection(response: JsonResponse, { path }: ResourceRequest, options: Connection) {
  const { status, json } = response;
  const isFailed = json?.result === 'fail';
  if (status !== 401 && status !== 403 && (!isFailed || isTransient(status))) return undefined;
  const received = `status ${status}${isFailed ? ', result=fail' : ''}`;
  return new CredentialsError(`The service rejected GET ${path} with a fresh token too (${received}).`, {
    ...readFailureDetails(response, json, options),
    fix: 'check that API access is enabled for this account',
  });
}

/** Undefined if a conditional request was answered with 304. A failure throws a StatusError or a ContractError. */
function readSuccess(response: JsonResponse, { path, conditions = {} }: ResourceRequest, options: Connection) {
  const { secrets } = options;
  const { status, header, json } = response;
  const name = `GET ${path}`;
  if (status === 304 && Object.keys(conditions).length > 0) return undefined;
  if (status === 304) {
    const message = `The service answered ${name}, which was unconditional, with status 304.`;
    throw new ContractError(message, { httpStatus: status });
  }
  if (json !== undefined && isSuccess(status))
    return {
      body: json,
      message: readMessage(json, secrets.scrub),
      timestamp: readTimestamp(json.timestamp, secrets),
      etag: readValidator(header('etag'), secrets),
      lastModified: readValidator(header('last-modified'), secrets),
    };
  const details = readFailureDetails(response, json, options);
  if (isSuccess(status)) throw describeNonObject(response, name, secrets.scrub);
  if (status >= 300 && status < 400) {
    const message = `${name} was redirected (status ${status})${describeLocation(response, secrets)}, and redirects are not followed, so that credentials are not sent elsewhere.`;
    throw new StatusError(false, message, { ...details, fix: 'check LEAGUE_SYNC_BASE_URL' });
  }
  throw new StatusError(isTransient(status), `The service answered ${name} with status ${status}.`, details);
}

/**
 * The origin to which a response redirects, as part of a message; empty if `Location` is not an absolute URL or has a
 * secret in it. Parsing decodes the host, so both the location and its origin are checked for secrets.
 */
function describeLocation({ header }: JsonResponse, { scrub }: Secrets): string {
  const location = header('location') ?? '';
  const origin = URL.parse(location)?.origin;
  return origin !== undefined && scrub(`${location} ${origin}`) === `${location} ${origin}` ? ` to ${origin}` : '';
}

const MAX_TIMESTAMP_LENGTH = 500;
const MAX_TIMESTAMP_DEPTH = 8;

/** Redacts and truncates the timestamp, as JSON if it is not a string: any type is allowed (interface, 4.3). */
function readTimestamp(sent: JsonValue | undefined, { scrub }: Secrets): string | undefined {
  if (sent === undefined || sent === null || isDeeperThan(sent, MAX_TIMESTAMP_DEPTH)) return undefined;
  return scrub(typeof sent === 'string' ? sent : JSON.stringify(sent)).slice(0, MAX_TIMESTAMP_LENGTH);
}

function readValidator(value: string | undefined, { scrub }: Secrets): string | undefined {
  return value !== undefined && scrub(value) === value ? value : undefined;
}

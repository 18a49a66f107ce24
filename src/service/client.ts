import type { Scope } from '../config/config.ts';
import { ContractError, CredentialsError, RetryAfterError, type RunError, StatusError } from '../errors.ts';
import { isSuccess, isTransient, readObject } from '../http/response.ts';
import { isDeeperThan, type JsonValue } from '../league/json.ts';
import type { Secrets } from '../redact.ts';
import { formatSize } from '../time/duration.ts';
import type { ServiceConnection } from './connection.ts';
import { describeUnexpected, readFailureDetails, readMessage } from './failure.ts';
import { type Deadline, retry } from './retry.ts';
import type { Session } from './session.ts';
import type { Resource } from './session-backoff.ts';
import type { Token } from './token-expiry.ts';

export type FetchResult = NonNullable<ReturnType<typeof readSuccess>>;

/** `ETag` and `Last-Modified` of a response, for conditional requests. */
export type Validators = Pick<FetchResult, 'etag' | 'lastModified'>;

/** Updated by each request, so that failed runs have these numbers, too. */
export type RequestStats = {
  attempts: number;
  /** The status of the last response; undefined if none arrived, or if the body of a 2xx could not be read. */
  httpStatus?: number | undefined;
  bodyBytes?: number | undefined;
  /** Whether the service refused the conditions of the first request, which was then repeated without them. */
  conditionsRefused?: boolean;
};

export type Client = ReturnType<typeof createClient>;

export type FetchOptions = {
  readonly deadline: Deadline;
  readonly stats: RequestStats;
  /** The run that the request belongs to; undefined or null if there is none. */
  readonly runId?: number | null | undefined;
};

/** Sends the requests of a logged-in player. A response with `result=fail` is an error (interface, 7). */
export function createClient(connection: ServiceConnection, session: Session) {
  const options = { ...connection, session };
  const getIfChanged = (request: ResourceRequest): Promise<FetchResult | undefined> =>
    retry(() => authorizedGet(request, options), { ...options, deadline: request.run.deadline });
  // Only a conditional request resolves to undefined.
  const get = getIfChanged as (request: Omit<ResourceRequest, 'conditions'>) => Promise<FetchResult>;
  return {
    /** Fetches the leagues (interface, 4.3). For the scope `all`, no filter is sent. */
    fetchLeagues: (scope: Scope, run: FetchOptions) => get({ ...leagues(scope), run }),
    /** Resolves to undefined if validators were sent and the service answers with status 304 (not modified). */
    fetchLeaguesIfChanged: (scope: Scope, validators: Validators | undefined, run: FetchOptions) =>
      getIfChanged({ ...leagues(scope), conditions: conditionalHeaders(validators), run }),
    /** Fetches the profile (interface, 4.2). */
    fetchProfile: (run: FetchOptions) => get({ resource: 'profile', path: '/players/v1/players/player/me', run }),
  };
}

function leagues(scope: Scope) {
  return { resource: 'leagues', path: `/events/v1/leagues/${scope === 'all' ? '' : `?status=${scope}`}` } as const;
}

type ResourceRequest = {
  readonly run: FetchOptions;
  readonly resource: Resource;
  readonly path: string;
  readonly conditions?: Readonly<Record<string, string>>;
};

/** Sends a request, and once more without its conditions if the service refuses those. */
function authorizedGet(request: ResourceRequest, options: ServiceConnection & { readonly session: Session }) {
  const { resource, run } = request;
  return options.session.request(resource, { signal: run.deadline.signal, runId: run.runId }, async (token) => {
    let response = await send(request, token, options);
    if (response.isConditional && isRefusal(response.status)) {
      run.stats.conditionsRefused = true;
      response = await send(request, token, options);
    }
    // Also puts the response's Retry-After into effect: a login after the rejection must obey it.
    const rejection = findRejection(response, request, options);
    return rejection === undefined ? { result: readSuccess(response, request, options) } : { rejection };
  });
}

/** Whether this status may mean that the service cannot handle the conditions of a request. */
function isRefusal(status: number): boolean {
  return status >= 400 && status <= 499 && status !== 401 && status !== 403 && !isTransient(status);
}

function conditionalHeaders({ etag, lastModified }: Partial<Validators> = {}): Readonly<Record<string, string>> {
  return { ...(etag && { 'if-none-match': etag }), ...(lastModified && { 'if-modified-since': lastModified }) };
}

/** `json` is undefined if the body is not a JSON object or has too many values. */
type JsonResponse = Awaited<ReturnType<typeof send>>;

/** Only the first request of a run carries the conditions: if they are what it failed for, the others can succeed. */
async function send(
  { resource, path, conditions = {}, run: { deadline, stats } }: ResourceRequest,
  token: Token,
  { transport, secrets, emit }: ServiceConnection,
) {
  const { signal } = deadline;
  const isConditional = stats.attempts === 0 && Object.keys(conditions).length > 0;
  const headers = { authorization: `Bearer ${token.accessToken}`, ...(isConditional && conditions) };
  Object.assign(stats, { attempts: stats.attempts + 1, httpStatus: undefined, bodyBytes: undefined });
  const purpose = `asking for the ${resource}`;
  const response = await transport({ method: 'GET', path, headers, purpose }, signal).catch((error: unknown) => {
    if (error instanceof RetryAfterError) stats.attempts -= 1;
    throw error;
  });
  Object.assign(stats, { httpStatus: response.status, bodyBytes: response.body.length });
  emit({ type: 'progress', what: `reading ${formatSize(response.body.length)}` });
  return { ...response, isConditional, json: await readObject(response.body, secrets.scrubTokens, signal) };
}

/** For a token that may be no longer valid. Of a fresh one, 401 and 403 refuse the account; `result=fail` does not. */
function findRejection(
  response: JsonResponse,
  { path }: ResourceRequest,
  options: ServiceConnection,
): RunError | undefined {
  const { status, json } = response;
  const isFailed = json?.result === 'fail';
  const received = `status ${status}${isFailed ? ', result=fail' : ''}`;
  if (status === 401 || status === 403)
    return new CredentialsError(`The service rejected GET ${path} with a fresh token too (${received}).`, {
      ...readFailureDetails(response, json, options),
      fix: 'check that API access is enabled for this account',
    });
  if (!isFailed || isTransient(status)) return undefined;
  return new StatusError(false, `The service answered GET ${path} with a failure (${received}).`, {
    ...readFailureDetails(response, json, options),
    fix: 'ask the operator of the service if this lasts',
  });
}

/** Undefined if a conditional request was answered with 304. A failure throws a StatusError or a ContractError. */
function readSuccess(response: JsonResponse, { path }: ResourceRequest, options: ServiceConnection) {
  const { secrets } = options;
  const { status, header, json, isConditional } = response;
  const name = `GET ${path}`;
  if (status === 304 && isConditional) return undefined;
  if (status === 304 || status === 206) {
    const asked = status === 206 ? 'which asked for all of it' : 'which was unconditional';
    const message = `The service answered ${name}, ${asked}, with status ${status}.`;
    throw new ContractError(message, { httpStatus: status, quoted: response.via });
  }
  if (json !== undefined && isSuccess(status))
    return {
      body: json,
      message: readMessage(json, secrets.scrub),
      timestamp: readTimestamp(json.timestamp, secrets),
      etag: readValidator(header('etag'), secrets),
      lastModified: readValidator(header('last-modified'), secrets),
    };
  if (status < 400 || status === 404) throw describeUnexpected('GET', response, options, json);
  const details = readFailureDetails(response, json, options);
  throw new StatusError(isTransient(status), `The service answered ${name} with status ${status}.`, details);
}

const MAX_TIMESTAMP_LENGTH = 500;
const MAX_TIMESTAMP_DEPTH = 8;

/** Redacts and truncates the timestamp, as JSON if it is not a string: any type is allowed (interface, 4.3). */
function readTimestamp(sent: JsonValue | undefined, { scrub }: Secrets): string | undefined {
  if (sent === undefined || sent === null || isDeeperThan(sent, MAX_TIMESTAMP_DEPTH)) return undefined;
  return scrub(typeof sent === 'string' ? sent : JSON.stringify(sent)).slice(0, MAX_TIMESTAMP_LENGTH);
}

/** Received headers may be too long to be kept, or contain characters that must not be sent. */
const SENDABLE = /^[\x20-\x7e]{1,1000}$/;

function readValidator(value: string | undefined, { scrub }: Secrets): string | undefined {
  return value !== undefined && SENDABLE.test(value) && scrub(value) === value ? value : undefined;
}

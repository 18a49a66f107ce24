import type { Clock } from '../clock.ts';
import type { Scope } from '../config/config.ts';
import { ContractError, CredentialsError, PausedError, StatusError } from '../errors.ts';
import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Secrets } from '../redact.ts';
import { type Answer, describeNonObject, isTransient, readMessage, readObject } from './answer.ts';
import { heed, quote } from './failure.ts';
import type { Pause } from './pause.ts';
import type { Resource } from './refusals.ts';
import { type Deadline, retry } from './retry.ts';
import type { Session } from './session.ts';
import type { Token } from './token.ts';
import type { Transport } from './transport.ts';

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
export type TokenSource = Pick<Session, 'token' | 'accept' | 'replace' | 'giveUp'>;

export type ClientOptions = {
  readonly transport: Transport;
  readonly session: TokenSource;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pause: Pause;
};

export function createClient(options: ClientOptions): Client {
  const get = (query: Query, deadline: Deadline, trace: Trace): Promise<Fetched | undefined> =>
    retry(() => authorizedGet(query, deadline.signal, trace, options), { ...options, deadline });
  return {
    fetchLeagues: (scope, deadline, trace, validators) => {
      const path = `/events/v1/leagues/${scope === 'all' ? '' : `?status=${scope}`}`;
      return get({ resource: 'leagues', path, conditions: conditionsOf(validators) }, deadline, trace);
    },
    fetchProfile: async (deadline, trace) => {
      const query: Query = { resource: 'profile', path: '/players/v1/players/player/me', conditions: {} };
      const fetched = await get(query, deadline, trace);
      if (fetched === undefined)
        throw new Error('an answer that nothing was conditional about came back as unmodified');
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

/** One request with a live token; a rejected token is replaced once and the request repeated (contract, 4). */
async function authorizedGet(
  query: Query,
  signal: AbortSignal,
  trace: Trace,
  options: ClientOptions,
): Promise<Fetched | undefined> {
  const { session } = options;
  const first = await session.token(query.resource, signal);
  const answer = await send(query, first, signal, trace, options);
  if (!isRejected(answer)) return readSuccess(answer, query, options);
  // A pause that this answer asks for holds for the login, too.
  heed(answer.answer, answer.body, options);

  const second = await session.replace(query.resource, first, signal);
  if (second === undefined) throw session.giveUp(query.resource, first, rejectedAgain(answer, query, options));
  const again = await send(query, second, signal, trace, options);
  if (!isRejected(again)) return readSuccess(again, query, options);
  throw session.giveUp(query.resource, second, rejectedAgain(again, query, options));
}

/** The body is undefined if it is no JSON object. */
type Read = { readonly answer: Answer; readonly body: JsonObject | undefined };

async function send(
  query: Query,
  token: Token,
  signal: AbortSignal,
  trace: Trace,
  options: ClientOptions,
): Promise<Read> {
  const headers = { authorization: `Bearer ${token.accessToken}`, ...query.conditions };
  trace.attempts += 1;
  trace.httpStatus = undefined;
  trace.bodyBytes = undefined;
  const answer = await options.transport({ ...query, method: 'GET', headers }, signal).catch((error: unknown) => {
    if (error instanceof PausedError) trace.attempts -= 1;
    throw error;
  });
  trace.httpStatus = answer.status;
  trace.bodyBytes = answer.body.length;
  return { answer, body: await readObject(answer, options.secrets.scrubTokens, signal) };
}

function isRejected({ answer, body }: Read): boolean {
  if (answer.status === 401 || answer.status === 403) return true;
  return body?.result === 'fail' && !isTransient(answer.status);
}

function rejectedAgain({ answer, body }: Read, { path }: Query, options: ClientOptions): CredentialsError {
  const words = heed(answer, body, options);
  const failed = body?.result === 'fail' ? ', result=fail' : '';
  return new CredentialsError(
    `The service rejected GET ${path} with a fresh token too (status ${answer.status}${failed}).`,
    {
      httpStatus: answer.status,
      ...words,
      quoted: quote(words),
      fix: 'check that API access is enabled for this account',
    },
  );
}

/** Undefined where the answer is that nothing has changed, and this was asked. */
function readSuccess(
  { answer, body }: Read,
  { resource, path, conditions }: Query,
  options: ClientOptions,
): Fetched | undefined {
  const { secrets } = options;
  const request = `GET ${path}`;
  const message = readMessage(body, secrets.scrub);
  if (answer.status === 304) {
    if (Object.keys(conditions).length > 0) {
      options.session.accept(resource);
      return undefined;
    }
    throw new ContractError(`${request} was answered with status 304, though nothing conditional was asked.`, {
      httpStatus: 304,
    });
  }
  if (answer.status < 200 || answer.status > 299) {
    const words = heed(answer, body, options);
    const fix = isRedirect(answer) ? 'check LEAGUE_SYNC_BASE_URL' : undefined;
    const details = { httpStatus: answer.status, ...words, quoted: quote(words), fix };
    throw new StatusError(isTransient(answer.status), describeStatus(answer, request, secrets), details);
  }
  if (body === undefined) {
    heed(answer, body, options);
    throw describeNonObject(answer, request, secrets.scrub);
  }
  options.session.accept(resource);
  return {
    body,
    message,
    timestamp: readTimestamp(body.timestamp, secrets),
    etag: readValidator(answer.header('etag'), secrets),
    lastModified: readValidator(answer.header('last-modified'), secrets),
  };
}

function describeStatus(answer: Answer, request: string, secrets: Secrets): string {
  const { status, header } = answer;
  if (!isRedirect(answer)) return `The service answered ${request} with status ${status}.`;
  return `${request} was redirected (status ${status})${redirectTarget(header('location'), secrets)}, and redirects are not followed, so that credentials go nowhere else.`;
}

function isRedirect({ status }: Answer): boolean {
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

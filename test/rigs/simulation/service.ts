import { TransportError } from '../../../src/errors.ts';
import type { HttpRequest, SendRequest } from '../../../src/http/request.ts';
import type { HttpResponse } from '../../../src/http/response.ts';
import {
  checkAuthorization,
  createTokenIssuer,
  findEndpoint,
  respond,
  type SimulatedResponse,
} from '../../../src/simulator/endpoints.ts';
import { createFaultSwitches } from '../../../src/simulator/faults.ts';
import type { SimulatedClock } from './clock.ts';
import type { Random } from './random.ts';

export const SERVICE_URL = 'https://service.example';
export const RECEIVER_URL = 'https://receiver.example/hook';

export type Request = {
  readonly at: number;
  readonly endpoint: ReturnType<typeof findEndpoint>;
  readonly life: number;
  /** Whether the token had expired when the request was sent, although its expiry was told as it was. */
  readonly isLate: boolean;
  /** Of a complete answer; undefined until then. */
  status?: number;
  /** The end of the wait that the answer asked for, in elapsed ms. */
  pauseUntil?: number;
  /** What was sent; after a condition that holds, what was sent then. */
  list?: List;
  /** Whether the answer says `result=fail`. */
  isFailure?: boolean;
  readonly isConditional: boolean;
  endedAt?: number;
};

export type List = {
  readonly ids: readonly string[];
  /** The name and the priority of each of them. */
  readonly contents: ReadonlyMap<string, string>;
  /** Whether it has elements that cannot be stored. */
  readonly hasBadRows: boolean;
  readonly hasNewField: boolean;
};

/** An attempt to send a message, whether it came or not. */
export type Try = {
  readonly at: number;
  readonly id: string;
  readonly life: number;
  /** Of a complete answer, and the end of the wait that it asked for, in elapsed ms. */
  status?: number;
  pauseUntil?: number;
};

export type Delivered = {
  readonly at: number;
  readonly id: string;
  readonly body: string;
  readonly status: number | undefined;
};

export type World = ReturnType<typeof createService>;

const HOUR = 3_600_000;
const TOKEN_LIVES_MS = [HOUR, 4 * HOUR, 24 * HOUR];
/** Faults with which the list has elements that cannot be stored: conflicting ones are rejected, too. */
const BAD_ROWS = ['bad-rows', 'duplicates'];
/** Faults with which a login tells a wrong expiry. */
const ODD_TIMES = ['born-expired', 'wrong-clock'];

/** `pausing`: most answers ask for a pause that ends near the end of a run. */
const LATENCIES_MS = { up: [5, 400], down: [5, 400], slow: [5_000, 90_000], pausing: [5, 29_000] } as const;
type Condition = keyof typeof LATENCIES_MS;
/** How such an answer fails. */
const FAILURES = { service: [503, 500, 502, 429, 408], receiver: [503, 302, 400, 429] };
/** How long such a pause is, at most. */
const PAUSES_S = [180, 180, 7_200];

/** The service and the receiver of webhooks, in memory. Faults are those of the simulator, and of the network. */
export function createService({ sleep, elapsed }: SimulatedClock, startAt: number, random: Random) {
  /** Of the service, which no step of the worker's clock moves. */
  const now = (): number => startAt + elapsed();
  const tokenLifeMs = random.pick(TOKEN_LIVES_MS);
  const tokens = createTokenIssuer(tokenLifeMs);
  const service = { username: 'player', password: 'first-password', tokens, leagues: () => leagues, now };
  const switches = createFaultSwitches([], tokens, () => undefined);
  const network = { service: 'up', receiver: 'up' } as Record<'service' | 'receiver', Condition>;
  let leagues: readonly Record<string, unknown>[] = [];
  const requests: Request[] = [];
  /** The last list with each ETag, and without one. */
  const lists = new Map<string, List>();
  const describe = (sent: readonly Record<string, unknown>[], faults: readonly string[]): List => ({
    ids: sent.map(({ league_id }) => String(league_id)),
    contents: new Map(sent.map((one) => [String(one.league_id), `${one.league_name} ${one.priority}`])),
    hasBadRows: BAD_ROWS.some((name) => faults.includes(name)),
    hasNewField: sent.some((one) => 'broadcast_partner' in one),
  });
  /** Tokens whose expiry was told wrongly. */
  const oddTokens = new Set<string>();
  /** Everything that no log and no file may hold. */
  const secrets = new Set<string>();
  const delivered: Delivered[] = [];
  const tries: Try[] = [];

  const pass = async (party: 'service' | 'receiver', { timeoutMs, name }: HttpRequest, signal: AbortSignal) => {
    const [from, to] = LATENCIES_MS[network[party]];
    const latencyMs = random.int(from, to);
    if (network[party] === 'down') {
      await sleep(random.int(1, 100), signal);
      throw unreachable(random.pick(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT']));
    }
    await sleep(Math.min(latencyMs, timeoutMs), signal);
    if (latencyMs > timeoutMs) throw new TransportError('timeout', true, `${name} took too long.`);
  };
  const answer = async (given: SimulatedResponse, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> => {
    if (given.delivery === 'never') {
      await sleep(request.timeoutMs, signal);
      throw new TransportError('timeout', true, `${request.name} took too long.`);
    }
    if (given.delivery !== undefined) throw unreachable('ECONNRESET');
    await sleep(given.delayMs ?? 0, signal);
    const date = new Date(now() + (given.clockAheadMs ?? 0)).toUTCString();
    const headers = Object.fromEntries(
      Object.entries({ date, ...given.headers }).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const head = { status: given.status, header: (name: string) => headers[name], via: '' };
    request.onHead?.(head);
    const text = typeof given.body === 'string' ? given.body : JSON.stringify(given.body ?? '');
    return { ...head, body: new TextEncoder().encode(text) };
  };
  const askForPause = (party: 'service' | 'receiver'): SimulatedResponse | undefined => {
    if (network[party] !== 'pausing' || random.chance(0.3)) return undefined;
    const seconds = random.int(1, random.pick(PAUSES_S));
    const pause = random.chance(0.3) ? new Date(now() + seconds * 1_000).toUTCString() : `${seconds}`;
    return { status: random.pick(FAILURES[party]), headers: { 'Retry-After': pause }, body: { result: 'fail' } };
  };
  const endOfPause = ({ headers }: SimulatedResponse): number | undefined => {
    const pause = headers?.['Retry-After'];
    if (pause === undefined) return undefined;
    return /^\d+$/.test(pause) ? elapsed() + Number(pause) * 1_000 : Date.parse(pause) - startAt;
  };
  const serve = async (life: number, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> => {
    const { pathname, searchParams } = new URL(request.url);
    const endpoint = findEndpoint(pathname);
    const { token } = checkAuthorization(request.headers?.authorization, service);
    const isLate = token === 'expired' && !oddTokens.has(request.headers?.authorization ?? '');
    const isConditional = request.headers?.['if-none-match'] !== undefined;
    const logged: Request = { at: elapsed(), endpoint, life, isLate, isConditional };
    requests.push(logged);
    try {
      await pass('service', request, signal);
      const authorization = request.headers?.authorization;
      const received = {
        ...{ method: request.method, path: pathname, query: searchParams, body: request.body ?? '' },
        ...{ contentType: request.headers?.['content-type'], ...checkAuthorization(authorization, service) },
      };
      const context = { now: now(), ifNoneMatch: request.headers?.['if-none-match'] };
      const given = askForPause('service') ?? switches.respond(endpoint, () => respond(received, service), context);
      // They may be over before the answer has come.
      const faults = switches.active();
      const response = await answer(given, request, signal);
      logged.status = given.status;
      const pauseUntil = endOfPause(given);
      if (pauseUntil !== undefined) logged.pauseUntil = pauseUntil;
      const { access_token, refresh_token, leagues: sent } = Object(given.body);
      for (const token of [access_token, refresh_token]) if (token !== undefined) secrets.add(token);
      if (ODD_TIMES.some((name) => faults.includes(name))) oddTokens.add(`Bearer ${access_token}`);
      logged.isFailure = Object(given.body).result === 'fail';
      const etag = given.headers?.ETag ?? '';
      if (endpoint === 'leagues' && Array.isArray(sent)) lists.set(etag, describe(sent.map(Object), faults));
      const list = given.status === 304 || Array.isArray(sent) ? lists.get(etag) : undefined;
      if (list !== undefined) logged.list = list;
      return response;
    } finally {
      logged.endedAt = elapsed();
    }
  };
  const receive = async (life: number, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> => {
    const note = (status: number | undefined): unknown =>
      delivered.push({ at: elapsed(), id: request.headers?.['webhook-id'] ?? '', body: request.body ?? '', status });
    const logged: Try = { at: elapsed(), id: request.headers?.['webhook-id'] ?? '', life };
    tries.push(logged);
    await pass('receiver', request, signal).catch((error: unknown) => {
      // It may have come nevertheless.
      if (!(error instanceof TransportError) || !['ECONNREFUSED', 'ETIMEDOUT'].includes(error.code)) note(undefined);
      throw error;
    });
    const context = { now: now(), ifNoneMatch: undefined };
    const given = askForPause('receiver') ?? switches.respond('webhooks', () => ({ status: 204 }), context);
    if (given.delivery === undefined) note(given.status);
    else note(undefined);
    const response = await answer(given, request, signal);
    const pauseUntil = endOfPause(given);
    return Object.assign(logged, { status: given.status }, pauseUntil && { pauseUntil }) && response;
  };
  return {
    ...{ requests, secrets, delivered, tries, network, switches, tokens, tokenLifeMs, service },
    leagues: () => leagues,
    setLeagues: (list: readonly Record<string, unknown>[]): void => {
      leagues = list;
    },
    /** The network of one life of the worker. */
    sendOf:
      (life: number, isAlive: () => boolean): SendRequest =>
      async (request, signal) => {
        signal.throwIfAborted();
        if (!isAlive()) throw unreachable('ECONNREFUSED');
        try {
          return await (request.url === RECEIVER_URL ? receive(life, request, signal) : serve(life, request, signal));
        } catch (error) {
          throw signal.aborted ? signal.reason : error;
        }
      },
  };
}

function unreachable(code: string): TransportError {
  const cause = Object.assign(new Error(code), { code });
  return new TransportError('network', true, `The network failed (${code}).`, { cause });
}

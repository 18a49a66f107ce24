import { describeNetworkError } from '../../../src/http/network-error.ts';
import type { ServiceRequest, Transport } from '../../../src/service/transport.ts';
import type { Row } from '../../support/database.ts';
import { makeLeague } from '../../support/leagues.ts';
import type { Kind } from '../../support/service.ts';
import type { World } from './simulation.ts';

/** A request as the service received it. */
export type Seen = {
  readonly kind: Kind;
  /** True time since the beginning at which it arrived, in ms. */
  readonly at: number;
  /** Whether its token had expired by the service's clock. */
  readonly dead: boolean;
  /** 0 if the connection was broken. */
  readonly status: number;
};

/** A response other than the normal one; `dies` breaks the connection. */
export type Reply = { readonly status: number; readonly body?: Row; readonly headers?: Row } | 'dies';

/** Overrides the response to a request; `at` is the true time since the start, `nth` counts from 1. */
export type Behaviour = (kind: Kind, at: number, nth: number) => Reply | undefined;

/** A service that records its requests. Tokens expire by its own clock, after which it rejects them. */
export type CountingService = {
  readonly transport: Transport;
  readonly seen: readonly Seen[];
  /** Arrivals of one kind, in ms of true time. */
  readonly times: (kind: Kind) => readonly number[];
  readonly setBehaviour: (behaviour: Behaviour) => void;
  /** Sets the valid password. */
  readonly setPassword: (password: string) => void;
  /** The maximum number of concurrent logins. */
  readonly loginsAtOnce: () => number;
};

export type ServiceOptions = {
  /** Lifetime of a token by the service's clock; if undefined, tokens have no expiry. */
  readonly lifeMs?: number | undefined;
  /** How far the service's clock is ahead of true time. */
  readonly leadMs?: number;
  /** Accepts expired tokens. */
  readonly takesDead?: boolean;
};

export const PASSWORD = 'secret-password';
const HOUR_MS = 3_600_000;
/** One-way network delay. */
const WAY_MS = 60;
const LEAGUE = makeLeague('l1');

export const healthy: Behaviour = () => undefined;

export function createCountingService(world: World, options: ServiceOptions = {}): CountingService {
  const { leadMs = 0, takesDead = false } = options;
  const lifeMs = 'lifeMs' in options ? options.lifeMs : HOUR_MS;
  const seen: Seen[] = [];
  const expiries = new Map<string, number>();
  let behaviour = healthy;
  let password = PASSWORD;
  let loggingIn = 0;
  let loginsAtOnce = 0;
  const now = (): number => world.now() + leadMs;

  const isDead = ({ headers }: ServiceRequest): boolean =>
    (expiries.get(headers.authorization ?? '') ?? Number.POSITIVE_INFINITY) <= now();
  const grant = (request: ServiceRequest): Reply => {
    if (request.headers.authorization !== `Basic ${Buffer.from(`player:${password}`).toString('base64')}`)
      return fail(401);
    const token = `access-token-${seen.length}`;
    const expiry = lifeMs === undefined ? {} : { expire_datetime: new Date(now() + lifeMs).toISOString() };
    expiries.set(`Bearer ${token}`, lifeMs === undefined ? Number.POSITIVE_INFINITY : now() + lifeMs);
    const rest = { message: 'ok', player_id: 'p1', refresh_token: `refresh-token-${seen.length}` };
    return { status: 200, body: { result: 'success', access_token: token, ...rest, ...expiry } };
  };
  const answer = (kind: Kind, request: ServiceRequest): Reply => {
    if (kind === 'login') return grant(request);
    if (!expiries.has(request.headers.authorization ?? '') || (isDead(request) && !takesDead)) return fail(401);
    if (kind === 'leagues') return { status: 200, body: { message: 'ok', leagues: [LEAGUE], timestamp: null } };
    return { status: 200, body: { message: 'ok', player: { player_id: 'p1' }, player_premium_items: [] } };
  };
  const exchange = async (kind: Kind, request: ServiceRequest, signal: AbortSignal) => {
    await world.clock.sleep(WAY_MS, signal);
    const nth = seen.length + 1;
    const reply = behaviour(kind, world.elapsed(), nth) ?? answer(kind, request);
    const status = reply === 'dies' ? 0 : reply.status;
    seen.push({ kind, at: world.elapsed(), dead: kind !== 'login' && isDead(request), status });
    const date = new Date(now()).toUTCString();
    await world.clock.sleep(WAY_MS, signal);
    if (reply === 'dies') {
      const cause = Object.assign(new Error('broken'), { code: 'ECONNRESET' });
      throw describeNetworkError(cause, `${request.method} ${request.path}`);
    }
    const headers: Row = { date, ...reply.headers };
    const header = (name: string) => (headers[name] === undefined ? undefined : String(headers[name]));
    const head = { status, header, via: '' };
    request.onHead?.(head);
    return { ...head, url: request.path, body: Buffer.from(JSON.stringify(reply.body ?? {})) };
  };
  const send = async (request: ServiceRequest, signal: AbortSignal) => {
    const kind = kindOf(request);
    if (kind !== 'login') return exchange(kind, request, signal);
    loggingIn += 1;
    loginsAtOnce = Math.max(loginsAtOnce, loggingIn);
    return exchange(kind, request, signal).finally(() => {
      loggingIn -= 1;
    });
  };
  return {
    transport: send,
    seen,
    times: (kind) => seen.filter((request) => request.kind === kind).map(({ at }) => at),
    setBehaviour: (next) => {
      behaviour = next;
    },
    setPassword: (next) => {
      password = next;
    },
    loginsAtOnce: () => loginsAtOnce,
  };
}

export function fail(status: number, headers: Row = {}): Reply {
  return { status, headers, body: { result: 'fail', message: `failed with ${status}` } };
}

function kindOf({ path }: ServiceRequest): Kind {
  if (path.includes('/login')) return 'login';
  return path.includes('/leagues/') ? 'leagues' : 'profile';
}

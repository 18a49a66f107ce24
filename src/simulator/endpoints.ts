import { randomBytes } from 'node:crypto';

const PLAYER_ID = '5f0c6a1e-8a44-4f0b-9c55-2b6d3f7e9a10';
const STATUSES: readonly string[] = ['active', 'inactive'];

/** The endpoints of the interface, and the receiver of webhooks; `unknown` stands for every other path. */
export type Endpoint = 'login' | 'profile' | 'leagues' | 'webhooks' | 'unknown';

export type JsonObject = Readonly<Record<string, unknown>>;

export type SimulatedResponse = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, and a string is sent as HTML. */
  readonly body?: JsonObject | string;
  readonly delayMs?: number;
  /** How far (ms) the `Date` header is ahead of the simulator's clock. */
  readonly clockAheadMs?: number;
  /** `cut` closes the connection after half of the body, `hung-up` closes it at once, `never` sends nothing. */
  readonly delivery?: 'cut' | 'hung-up' | 'never';
};

type BasicCheck = 'accepted' | 'refused' | 'missing';

type ServiceRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly token: TokenState;
  readonly basic: BasicCheck;
  readonly contentType: string | undefined;
  readonly body: string;
};

// Expired tokens are kept, to tell them from unknown ones. Beyond this number of tokens, the oldest is dropped.
const MAX_TOKENS = 10_000;

type TokenState = 'none' | 'valid' | 'expired' | 'unknown';

export type TokenIssuer = ReturnType<typeof createTokenIssuer>;

export function createTokenIssuer(lifeMs: number) {
  const expiries = new Map<string, number>();
  return {
    issue(now: number) {
      const issued = {
        accessToken: randomBytes(32).toString('base64url'),
        refreshToken: randomBytes(32).toString('base64url'),
        expiresAt: now + lifeMs,
      };
      expiries.set(issued.accessToken, issued.expiresAt);
      const [oldest] = expiries.keys();
      if (expiries.size > MAX_TOKENS && oldest !== undefined) expiries.delete(oldest);
      return issued;
    },
    check(token: string | undefined, now: number): TokenState {
      if (token === undefined) return 'none';
      const expiresAt = expiries.get(token);
      if (expiresAt === undefined) return 'unknown';
      return now < expiresAt ? 'valid' : 'expired';
    },
    revokeAll: () => expiries.clear(),
  };
}

export type Service = {
  readonly username: string;
  readonly password: string;
  readonly tokens: TokenIssuer;
  leagues(): readonly unknown[];
  now(): number;
};

const routes = new Map<string, { endpoint: Endpoint; method: string; answer: typeof respond }>([
  ['/players/v1/authenticate/login', { endpoint: 'login', method: 'POST', answer: logIn }],
  ['/players/v1/players/player/me', { endpoint: 'profile', method: 'GET', answer: showProfile }],
  ['/events/v1/leagues/', { endpoint: 'leagues', method: 'GET', answer: listLeagues }],
]);

export function findEndpoint(path: string): Endpoint {
  return routes.get(path)?.endpoint ?? 'unknown';
}

/** The response of the service before any fault changes it. */
export function respond(request: ServiceRequest, service: Service): SimulatedResponse {
  const route = routes.get(request.path);
  // Of a wrong address, so it says nothing of the credentials.
  if (route === undefined) return { status: 404, headers: {}, body: { message: 'No such path' } };
  if (request.method !== route.method) return failResponse(405, `Use ${route.method} here`, { Allow: route.method });
  if (route.endpoint !== 'login' && request.token !== 'valid') {
    return failResponse(401, 'Access token missing, unknown or expired');
  }
  return route.answer(request, service);
}

export function checkAuthorization(header: string | undefined, { tokens, username, password, now }: Service) {
  const [scheme, value] = header?.trim().split(/ +/, 2) ?? [];
  const credentialsOf = (name: string) => (scheme?.toLowerCase() === name ? value : undefined);
  const pair = credentialsOf('basic');
  const isRight = Buffer.from(pair ?? '', 'base64').toString() === `${username}:${password}`;
  const basic: BasicCheck = pair === undefined ? 'missing' : isRight ? 'accepted' : 'refused';
  return { token: tokens.check(credentialsOf('bearer'), now()), basic };
}

export function failResponse(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
  return { status, headers, body: { result: 'fail', message } };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function logIn({ basic, contentType = '', body }: ServiceRequest, { tokens, now }: Service): SimulatedResponse {
  if (basic !== 'accepted') return failResponse(401, 'Invalid username or password');
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') return failResponse(415, 'Content-Type must be application/json');
  if (parseBody(body)?.attribute !== 'username') return failResponse(400, 'attribute must be username');
  const issued = tokens.issue(now());
  return {
    status: 200,
    body: {
      result: 'success',
      message: 'Login successful',
      player_id: PLAYER_ID,
      access_token: issued.accessToken,
      refresh_token: issued.refreshToken,
      expire_datetime: new Date(issued.expiresAt).toISOString(),
    },
  };
}

/** Undefined if the body is not JSON. */
export function parseBody(body: string) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function showProfile(_request: ServiceRequest, { username }: Service): SimulatedResponse {
  const name = { first_name: 'Pat', last_name: 'Player', email: 'player@example.com' };
  const profile_pic = 'https://images.example.com/players/default.png';
  const player = { player_id: PLAYER_ID, username, ...name, type: 'player', verified: true, profile_pic };
  return { status: 200, body: { message: 'Player retrieved', player, player_premium_items: [] } };
}

function listLeagues({ query }: ServiceRequest, service: Service): SimulatedResponse {
  const status = query.get('status');
  if (status !== null && !STATUSES.includes(status)) return failResponse(400, 'status must be active or inactive');
  const isAskedFor = (league: unknown) => status === null || (isObject(league) && league.status === status);
  const timestamp = new Date(service.now()).toISOString();
  const body = { message: 'Leagues retrieved', leagues: service.leagues().filter(isAskedFor), timestamp };
  return { status: 200, body };
}

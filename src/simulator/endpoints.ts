import type { TokenIssuer, TokenState } from './tokens.ts';

const PLAYER_ID = '5f0c6a1e-8a44-4f0b-9c55-2b6d3f7e9a10';
const STATUSES: readonly string[] = ['active', 'inactive'];

/** The operations of the interface (its section 4); `unknown` is every other path. */
export type Endpoint = 'login' | 'profile' | 'leagues' | 'unknown';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A response of the simulated service, and how it reaches the client. */
export type Answer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as an HTML page. */
  readonly body?: JsonObject | string;
  readonly delayMs?: number;
  /** How far the `Date` header runs ahead of the simulator's own clock. */
  readonly clockAheadMs?: number;
  /** `cut` sends half of the announced body and ends the connection, `hung-up` nothing; `never` leaves it open. */
  readonly delivery?: 'cut' | 'hung-up' | 'never';
};

export type BasicCheck = 'accepted' | 'refused' | 'missing';

export type ServiceRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly token: TokenState;
  readonly basic: BasicCheck;
  readonly contentType: string | undefined;
  /** Undefined if it was larger than the service takes. */
  readonly body: string | undefined;
};

export type Service = {
  readonly username: string;
  readonly password: string;
  readonly tokens: TokenIssuer;
  leagues(): readonly unknown[];
  now(): number;
};

type Respond = (request: ServiceRequest, service: Service) => Answer;

const routes = new Map<string, { endpoint: Endpoint; method: string; answer: Respond }>([
  ['/players/v1/authenticate/login', { endpoint: 'login', method: 'POST', answer: logIn }],
  ['/players/v1/players/player/me', { endpoint: 'profile', method: 'GET', answer: showProfile }],
  ['/events/v1/leagues/', { endpoint: 'leagues', method: 'GET', answer: listLeagues }],
]);

/** Which operation of the interface a path stands for. */
export function findEndpoint(path: string): Endpoint {
  return routes.get(path)?.endpoint ?? 'unknown';
}

/** What a faultless service answers (sections 4, 5 and 7 of the interface). */
export function answerRequest(request: ServiceRequest, service: Service): Answer {
  const route = routes.get(request.path);
  if (route === undefined) return failure(404, 'No such path');
  if (request.method !== route.method) return failure(405, `Use ${route.method} here`, { Allow: route.method });
  if (request.body === undefined) return failure(413, 'Request body too large');
  if (route.endpoint !== 'login' && request.token !== 'valid') {
    return failure(401, 'Access token missing, unknown or expired');
  }
  return route.answer(request, service);
}

/** What an Authorization header is worth: its Bearer token, or its Basic pair (section 5 of the interface). */
export function checkAuthorization(header: string | undefined, { tokens, username, password, now }: Service) {
  const [scheme, value] = header?.trim().split(/ +/, 2) ?? [];
  const credentialsOf = (name: string) => (scheme?.toLowerCase() === name ? value : undefined);
  const pair = credentialsOf('basic');
  const isRight = Buffer.from(pair ?? '', 'base64').toString() === `${username}:${password}`;
  const basic: BasicCheck = pair === undefined ? 'missing' : isRight ? 'accepted' : 'refused';
  return { token: tokens.check(credentialsOf('bearer'), now()), basic };
}

/** A failed response as the interface marks it (section 7): `result` is `fail`, beside a message for people. */
export function failure(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers, body: { result: 'fail', message } };
}

/** Whether a JSON value is an object, neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function logIn({ basic, contentType = '', body = '' }: ServiceRequest, { tokens, now }: Service): Answer {
  if (basic !== 'accepted') return failure(401, 'Invalid username or password');
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') return failure(415, 'Content-Type must be application/json');
  if (readAttribute(body) !== 'username') return failure(400, 'attribute must be username');
  const issued = tokens.issue(now());
  return succeed({
    result: 'success',
    message: 'Login successful',
    player_id: PLAYER_ID,
    access_token: issued.accessToken,
    refresh_token: issued.refreshToken,
    expire_datetime: new Date(issued.expiresAt).toISOString(),
  });
}

function readAttribute(body: string): unknown {
  try {
    const content: unknown = JSON.parse(body);
    return isObject(content) ? content.attribute : undefined;
  } catch {
    return undefined;
  }
}

function showProfile(_request: ServiceRequest, { username }: Service): Answer {
  const player = {
    player_id: PLAYER_ID,
    username,
    email: 'player@example.com',
    type: 'player',
    verified: true,
    profile_pic: 'https://images.example.com/players/default.png',
    first_name: 'Pat',
    last_name: 'Player',
  };
  return succeed({ message: 'Player retrieved', player, player_premium_items: [] });
}

function listLeagues({ query }: ServiceRequest, service: Service): Answer {
  const status = query.get('status');
  if (status !== null && !STATUSES.includes(status)) return failure(400, 'status must be active or inactive');
  const isAskedFor = (league: unknown) => status === null || (isObject(league) && league.status === status);
  const timestamp = new Date(service.now()).toISOString();
  return succeed({ message: 'Leagues retrieved', leagues: service.leagues().filter(isAskedFor), timestamp });
}

function succeed(body: JsonObject): Answer {
  return { status: 200, body };
}

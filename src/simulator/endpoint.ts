import { type Answer, type Endpoint, failure } from './answer.ts';
import type { BasicCheck } from './authorization.ts';
import { isObject, readJson } from './json.ts';
import type { TokenIssuer, TokenState } from './token.ts';

const PLAYER_ID = '5f0c6a1e-8a44-4f0b-9c55-2b6d3f7e9a10';
const STATUSES: readonly string[] = ['active', 'inactive'];

export type ServiceRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly token: TokenState;
  readonly basic: BasicCheck;
  readonly contentType: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** Undefined where it was larger than the service takes. */
  readonly body: string | undefined;
};

export type Service = {
  readonly username: string;
  readonly tokens: TokenIssuer;
  leagues(): readonly unknown[];
  now(): number;
};

type Route = {
  readonly endpoint: Endpoint;
  readonly method: string;
  readonly answer: (request: ServiceRequest, service: Service) => Answer;
};

const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/players/v1/authenticate/login', { endpoint: 'login', method: 'POST', answer: logIn }],
  ['/players/v1/players/player/me', { endpoint: 'profile', method: 'GET', answer: behindToken(showProfile) }],
  ['/events/v1/leagues/', { endpoint: 'leagues', method: 'GET', answer: behindToken(listLeagues) }],
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
  return route.answer(request, service);
}

function logIn(request: ServiceRequest, service: Service): Answer {
  if (request.basic !== 'accepted') return failure(401, 'Invalid username or password');
  if (!isJson(request.contentType)) return failure(415, 'Content-Type must be application/json');
  const body = readJson(request.body ?? '');
  if (!isObject(body) || body.attribute !== 'username') return failure(400, 'attribute must be username');
  const issued = service.tokens.issue(service.now());
  return succeed({
    result: 'success',
    message: 'Login successful',
    player_id: PLAYER_ID,
    access_token: issued.accessToken,
    refresh_token: issued.refreshToken,
    expire_datetime: new Date(issued.expiresAt).toISOString(),
  });
}

/** Whether the content type is that of JSON, with parameters or without. */
function isJson(contentType = ''): boolean {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

function behindToken(answer: Route['answer']): Route['answer'] {
  return (request, service) =>
    request.token === 'valid' ? answer(request, service) : failure(401, 'Access token missing, unknown or expired');
}

function showProfile(_request: ServiceRequest, service: Service): Answer {
  const player = {
    player_id: PLAYER_ID,
    username: service.username,
    email: 'player@example.com',
    type: 'player',
    verified: true,
    profile_pic: 'https://images.example.com/players/default.png',
    first_name: 'Pat',
    last_name: 'Player',
  };
  return succeed({ message: 'Player retrieved', player, player_premium_items: [] });
}

function listLeagues(request: ServiceRequest, service: Service): Answer {
  const status = request.query.get('status');
  if (status !== null && !STATUSES.includes(status)) return failure(400, 'status must be active or inactive');
  const leagues = service.leagues().filter((league) => status === null || hasStatus(league, status));
  return succeed({ message: 'Leagues retrieved', leagues, timestamp: new Date(service.now()).toISOString() });
}

function hasStatus(league: unknown, status: string): boolean {
  return isObject(league) && league.status === status;
}

function succeed(body: NonNullable<Answer['body']>): Answer {
  return { status: 200, body };
}

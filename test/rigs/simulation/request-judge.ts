import { isSuccess } from '../../../src/http/response.ts';
import { isRejection, type Past } from './past.ts';
import type { Request, Try, World } from './service.ts';

type Around = {
  readonly past: Past;
  readonly fail: (text: string) => void;
  /** How much longer than it should a short sleep may last (ms). */
  readonly slackMs: number;
  /** By how much something may come late that comes at once if all is well (ms). */
  readonly longestWaitMs: number;
  readonly leewayMs: () => number;
  /** Whether removals were held at that time. */
  readonly isHolding: (at: number) => boolean;
  readonly onLogin: () => void;
};

export const HOUR_MS = 3_600_000;
/** Of a service that is down: up to four for each wait of at most 5 minutes, and for each poll. */
const MOST_LOGINS = 110;
/** How long a fault that denies access may have an effect. */
export const DENIAL_MS = 2 * HOUR_MS;
/** Between the attempts at a message (contract, 10); each up to a tenth longer. */
const WAITS_MS = [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000];
const LAST_WAIT_MS = 36_000_000;
/** How old a request for a poll may be that a worker sees. */
export const REQUEST_MS = 30_000;

/** The least wait (ms) after so many refusals in a row: a minute, doubling to an hour. */
export function refusalWaitMs(count: number): number {
  return Math.min(60_000 * 2 ** (count - 1), HOUR_MS) - 1_000;
}

/** What is sent, and when: to the service, and to the receiver of webhooks. */
export function createRequestJudge(world: World, around: Around) {
  const { past, fail, slackMs, longestWaitMs, leewayMs, isHolding, onLogin } = around;
  let [judgedRequests, judgedTries] = [0, 0];

  /** The age at which a token is renewed. */
  const dueMs = (): number => world.tokenLifeMs - Math.min(leewayMs(), world.tokenLifeMs / 3);
  const judgeOrder = (request: Request, before: readonly Request[]): void => {
    const isOpen = ({ life, endpoint, endedAt = Number.POSITIVE_INFINITY }: Request): boolean =>
      life === request.life && endpoint === request.endpoint && endedAt > request.at;
    if (before.some(isOpen)) fail(`two requests of ${request.endpoint} at once`);
    if (request.isConditional && isHolding(request.at)) fail('a condition was sent while removals are held');
    if (request.isLate) fail(`a request of ${request.endpoint} with a token that had expired`);
    const pause = before.findLast(({ pauseUntil = 0 }) => pauseUntil > request.at);
    if (pause === undefined) return;
    const isKnown = pause.life === request.life || (past.troubleAt < pause.at && !past.hasStepped(pause.at));
    if (isKnown && (pause.endedAt ?? 0) < request.at)
      fail(`sent ${(pause.pauseUntil ?? 0) - request.at} ms before the end of a Retry-After`);
  };
  /** `granted`: the login before, in this life; `since`: the requests after it. */
  const judgeRenewal = ({ at }: Request, granted: Request, since: readonly Request[]): void => {
    const isDisturbed = past.hadPerson(granted.at) || past.hasStepped(granted.at) || past.mayBePaused(granted.at);
    if (isDisturbed || at - past.deniedAt < DENIAL_MS) return;
    const ageMs = at - granted.at;
    if (ageMs < dueMs() - 2_000 && !since.some(isRejection))
      fail(`logged in again after ${ageMs} ms, though nothing was rejected`);
    if (ageMs > dueMs() + longestWaitMs) fail(`a token was renewed only after ${ageMs} ms`);
  };
  /** After a refusal, the next login comes after a minute, doubling to an hour. */
  const judgeRefused = ({ at }: Request, refused: Request, logins: readonly Request[]): void => {
    if (past.hadPerson(refused.at)) return;
    const waitedMs = at - refused.at;
    const isOther = (one: Request): boolean => one.status !== 401 || past.hadPerson(one.at);
    const count = logins.length - 1 - logins.findLastIndex(isOther);
    const leastMs = refusalWaitMs(count);
    if (waitedMs < leastMs) fail(`a login ${waitedMs} ms after it was refused ${count} times in a row`);
    const isFirst = logins.at(-2)?.status === 200 && world.requests[judgedRequests - 1] === refused;
    if (isFirst && !past.mayBePaused(refused.at) && waitedMs > 110_000)
      fail(`the first login after a refusal came ${waitedMs} ms later`);
  };
  /** `logins`: those before in this life. The waits between renewals that fail double, up to a limit. */
  const judgeLogin = ({ at }: Request, logins: readonly Request[]): void => {
    const lately = (times: readonly number[]) => times.filter((time) => time > at - HOUR_MS).length;
    if (lately(logins.map((one) => one.at)) > MOST_LOGINS * (1 + lately(past.persons)))
      fail('too many logins in an hour');
    const streak = logins.slice(logins.findLastIndex(({ status }) => status === 200) + 1);
    const [granted, first, last] = [logins.at(-streak.length - 1), streak[0], streak.at(-1)];
    if (first === undefined || last?.endedAt === undefined || past.isDisturbed(first.at)) return;
    const isRenewal = granted === undefined || first.at - granted.at >= dueMs() - 2_000;
    if (!isRenewal || past.mayBePaused(first.at)) return;
    const mostMs = Math.min(last.endedAt - first.at, last.status === 401 ? HOUR_MS : 300_000) + 70_000 + slackMs;
    if (at - last.endedAt > mostMs)
      fail(`the login after ${streak.length} that failed came ${at - last.endedAt} ms later`);
  };
  const judgeRequest = (request: Request, before: readonly Request[]): void => {
    judgeOrder(request, before);
    if (request.endpoint !== 'login') return;
    onLogin();
    const logins = before.filter(({ endpoint, life }) => endpoint === 'login' && life === request.life);
    judgeLogin(request, logins);
    const last = logins.at(-1);
    if (last?.status === 200) judgeRenewal(request, last, before.slice(before.indexOf(last) + 1));
    if (last?.status === 401) judgeRefused(request, last, logins);
  };
  const judgeTry = (one: Try, before: readonly Try[]): void => {
    const pause = before.findLast(({ pauseUntil = 0 }) => pauseUntil > one.at);
    const isStored = ({ at }: Try): boolean => Math.max(past.troubleAt, past.restoredAt) < at && !past.isLost(at);
    if (pause !== undefined && isStored(pause) && !past.hasStepped(pause.at))
      fail(`a message ${(pause.pauseUntil ?? 0) - one.at} ms before the end of a Retry-After`);
    const gone = before.at(-1);
    if (gone?.status === 410 && isStored(gone) && past.movedAt < gone.at) fail('a message after 410 (Gone)');
    const earlier = before.filter(({ id }) => id === one.id);
    const [first, last] = [earlier[0], earlier.at(-1)];
    if (first === undefined || last === undefined) return;
    const answer = world.delivered.find(({ id, at }) => id === last.id && at >= last.at && at < one.at);
    if (last.life === one.life && answer?.status !== undefined && isSuccess(answer.status))
      fail('a message was sent again after it was accepted');
    if (past.isDisturbed(first.at - REQUEST_MS) || first.life !== one.life) return;
    const waitedMs = one.at - last.at;
    const leastMs = WAITS_MS[earlier.length - 1] ?? LAST_WAIT_MS;
    const mostMs = Math.max(leastMs * 1.1, (last.pauseUntil ?? 0) - last.at) + longestWaitMs;
    if (waitedMs < leastMs || waitedMs > mostMs)
      fail(`attempt ${earlier.length + 1} at a message came after ${waitedMs} ms`);
  };
  return {
    judgeRequests: (): void => {
      for (; judgedRequests < world.requests.length; judgedRequests += 1)
        judgeRequest(world.requests[judgedRequests] as Request, world.requests.slice(0, judgedRequests));
      for (; judgedTries < world.tries.length; judgedTries += 1)
        judgeTry(world.tries[judgedTries] as Try, world.tries.slice(0, judgedTries));
    },
  };
}

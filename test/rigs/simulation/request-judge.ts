import { isSuccess } from '../../../src/http/response.ts';
import { isRejection } from './past.ts';
import { DENIAL_MS, HOUR_MS, MINUTE_MS, REQUEST_MS, refusalWaitMs, type Scene } from './scene.ts';
import type { Request, Try } from './service.ts';

type Around = {
  readonly leewayMs: () => number;
  /** Whether removals were held at that time. */
  readonly isHolding: (at: number) => boolean;
  readonly onLogin: () => void;
};

/** Of a service that is down: up to four for each wait of at most 5 minutes, and for each poll. */
const MOST_LOGINS = 110;
/** The longest wait between renewals that fail for a reason that may pass. */
const LONGEST_RENEWAL_MS = 5 * MINUTE_MS;
/** How much later than its wait, which has chance in it, a login comes. */
const LATE_MS = 70_000;
/** The wait after the first refused login is a minute; while it lasts, sleeps are short. */
const FIRST_REFUSAL_MS = 110_000;
/** By how much a token may be renewed early. */
const EARLY_MS = 2_000;
/** Between the attempts at a message (contract, 10); each up to a tenth longer. */
const WAITS_MS = [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000];
const LAST_WAIT_MS = 36_000_000;

/** What is sent, and when: to the service, and to the receiver of webhooks. */
export function createRequestJudge(scene: Scene, { leewayMs, isHolding, onLogin }: Around) {
  const { world, past, fail, slackMs, longestWaitMs } = scene;
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
    if (ageMs < dueMs() - EARLY_MS && !since.some(isRejection))
      fail(`logged in again after ${ageMs} ms, though nothing was rejected`);
    if (ageMs > dueMs() + longestWaitMs) fail(`a token was renewed only after ${ageMs} ms`);
  };
  /** After a refusal, the next login comes after a minute, doubling to an hour. */
  const judgeRefused = ({ at }: Request, refused: Request, logins: readonly Request[]): void => {
    // A worker sees a request for a poll a while later.
    if (past.hadPerson(refused.at - REQUEST_MS)) return;
    const waitedMs = at - refused.at;
    const isOther = (one: Request): boolean => one.status !== 401 || past.hadPerson(one.at);
    const count = logins.length - 1 - logins.findLastIndex(isOther);
    const leastMs = refusalWaitMs(count);
    if (waitedMs < leastMs) fail(`a login ${waitedMs} ms after it was refused ${count} times in a row`);
    const isFirst = logins.at(-2)?.status === 200 && world.requests[judgedRequests - 1] === refused;
    if (isFirst && !past.mayBePaused(refused.at) && waitedMs > FIRST_REFUSAL_MS)
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
    const isRenewal = granted === undefined || first.at - granted.at >= dueMs() - EARLY_MS;
    if (!isRenewal || past.mayBePaused(first.at)) return;
    const mostMs =
      Math.min(last.endedAt - first.at, last.status === 401 ? HOUR_MS : LONGEST_RENEWAL_MS) + LATE_MS + slackMs;
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
    /** Whether every login of the last quarter of an hour and the one before was refused, and no person did anything. */
    isRefusalUntold: (at: number): boolean => {
      const logins = world.requests.filter(
        ({ endpoint, endedAt = Number.POSITIVE_INFINITY }) => endpoint === 'login' && endedAt < at,
      );
      const lastGood = logins.findLastIndex(({ status }) => status !== 401);
      const [first] = logins.slice(lastGood + 1);
      const isLong = first !== undefined && lastGood >= 0 && at - first.at > longestWaitMs;
      return isLong && !past.hadPerson(logins[lastGood]?.at ?? 0);
    },
    /** Whether the last login was refused, nothing was granted after it, and no person did anything. */
    isStillRefused: (at: number): boolean => {
      const ended = world.requests.filter(({ endedAt = Number.POSITIVE_INFINITY }) => endedAt <= at);
      const refused = ended.findLastIndex(({ endpoint, status }) => endpoint === 'login' && status === 401);
      const later = ended.slice(refused + 1);
      const isKnown = refused >= 0 && !past.hadPerson(ended[refused]?.at ?? 0);
      return isKnown && !later.some(({ status }) => status === 200 || status === 304);
    },
    judge: (): void => {
      for (; judgedRequests < world.requests.length; judgedRequests += 1)
        judgeRequest(world.requests[judgedRequests] as Request, world.requests.slice(0, judgedRequests));
      for (; judgedTries < world.tries.length; judgedTries += 1)
        judgeTry(world.tries[judgedTries] as Try, world.tries.slice(0, judgedTries));
    },
  };
}

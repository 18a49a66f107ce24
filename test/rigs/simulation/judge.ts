import { existsSync, readFileSync } from 'node:fs';
import type { Config } from '../../../src/config/config.ts';
import type { createApp } from '../../../src/observe/routes.ts';
import type { Row } from '../../support/database.ts';
import { createDeliveryJudge } from './delivery-judge.ts';
import type { Reader } from './reader.ts';
import type { Request, World } from './service.ts';
import { judgeState, type Known } from './state-judge.ts';

type App = ReturnType<typeof createApp>;
type Around = {
  readonly elapsed: () => number;
  readonly now: () => number;
  readonly note: (text: string) => unknown;
  readonly reader: Reader;
};
/** A good poll of the leagues; `staleAt` by the wall clock. */
type Good = {
  readonly runId: number;
  readonly startedAt: number;
  readonly at: number;
  readonly leftMs: number;
  readonly staleAt: number;
};
/** `at` by the wall clock. */
type Told = { readonly runId: number; readonly outcome: string; readonly lastSeq: number; readonly at: number };

type Awaited =
  | 'a poll at its slot'
  | 'a poll that was asked for'
  | 'a poll after a pause'
  | 'a poll at the start'
  | 'a login for a person';

/** What holds at all times. Remembers the first thing that does not. */
export function createJudge(world: World, { elapsed, now, note, reader }: Around) {
  let failure: string | undefined;
  /** Whether the worker said at its stop that the end of a run could not be written. */
  let isEndUnsaved = false;
  let path = '';
  let live = new Set<string>();
  let removalLimit = 0.2;
  /** The shortest of any life: what it has deleted does not come back. */
  let retentionMs = Number.POSITIVE_INFINITY;
  let currentRetentionMs = retentionMs;
  let heldBefore: readonly string[] = [];
  /** The latest that the wall clock has shown. */
  let latest = Number.NEGATIVE_INFINITY;
  let told: readonly Told[] = [];
  /** What had been reported when the backup was made. */
  let backup = { told, good: undefined as Good | undefined };
  let good: Good | undefined;
  /** Whether a poll may have been stored that was not told. */
  let isUnsure = false;
  /** Whether faults have ended long ago. */
  let isWell = false;
  /** Polls that failed since the last good one; undefined if not known. */
  let failures: number | undefined;
  /** How the last poll of this life ended. */
  let lastOutcome = '';
  let lifeBegan = 0;
  let schedule: Config['schedule'] | undefined;
  /** When the database could not be written for a while, or may not be. */
  let troubleAt = 0;
  let searchedSecrets = 0;
  /** When the pause ends after which a poll must come. */
  let pausedUntil = 0;
  /** When unrequested polls ended, in elapsed ms. */
  const ends: number[] = [];
  /** The last good poll that made up for missed slots, in elapsed ms, and the slot after it, by the wall clock. */
  let caughtUp = { startedAt: Number.NEGATIVE_INFINITY, endedAt: Number.NEGATIVE_INFINITY, nextSlot: 0 };
  const accepted = new Set<string>();
  /** When a person did something, or the clock stepped, in elapsed ms. */
  const persons: number[] = [];
  const steps: number[] = [];
  let judgedRequests = 0;
  let judgedDeliveries = 0;
  let judgedTries = 0;
  let movedAt = Number.NEGATIVE_INFINITY;
  let restoredAt = Number.NEGATIVE_INFINITY;
  const kills: number[] = [];
  /** Whether a kill came too soon for the answer to be stored. */
  const isLost = (at: number): boolean => kills.some((time) => time >= at && time < at + 60_000);
  let requestsBefore = 0;
  /** When a fault last denied access, or the password was changed. */
  let deniedAt = 0;
  /** When the log said something of a poll last. */
  let lastLineAt = 0;
  /** What must come, and until when (elapsed ms); forgotten once the life of the worker has ended. */
  const awaited = new Map<Awaited, number>();

  /** Whether every login of the last quarter of an hour and the one before was refused, and no person did anything. */
  const isRefusalUntold = (at: number): boolean => {
    const logins = world.requests.filter(
      ({ endpoint, endedAt = Number.POSITIVE_INFINITY }) => endpoint === 'login' && endedAt < at,
    );
    const lastGood = logins.findLastIndex(({ status }) => status !== 401);
    const [first] = logins.slice(lastGood + 1);
    const isLong = first !== undefined && lastGood >= 0 && at - first.at > LONGEST_FIRST_WAIT_MS;
    return isLong && !persons.some((time) => time >= (logins[lastGood]?.at ?? 0));
  };
  /** Whether the last login was refused, nothing was granted after it, and no person did anything. */
  const isStillRefused = (at: number): boolean => {
    const ended = world.requests.filter(({ endedAt = Number.POSITIVE_INFINITY }) => endedAt <= at);
    const refused = ended.findLastIndex(({ endpoint, status }) => endpoint === 'login' && status === 401);
    const later = ended.slice(refused + 1);
    const isKnown = refused >= 0 && !persons.some((time) => time >= (ended[refused]?.at ?? 0));
    return isKnown && !later.some(({ status }) => status === 200 || status === 304);
  };
  const fail = (text: string): void => {
    failure ??= text;
    note(`FAILED: ${text}`);
  };
  const deliveries = createDeliveryJudge(fail, {
    ...{ hasData: () => told.length > 0, isRefusalUntold, isStillRefused },
    isStaleUntold: (at) => {
      const last = good;
      if (last === undefined || [...steps, ...persons].some((time) => time >= last.at)) return false;
      return at > last.at + last.leftMs + LONGEST_FIRST_WAIT_MS;
    },
    triedAt: (id) => world.tries.find((one) => one.id === id)?.at ?? elapsed(),
  });
  const rows = (sql: string, at = path): readonly Row[] => reader.rows(at, sql);
  const lastSeq = (at = path): number => Number(rows('SELECT max(seq) AS seq FROM league_changes', at)[0]?.seq ?? 0);
  const readLive = (at = path): Set<string> => new Set(rows(LIVE, at).map(({ league_id }) => String(league_id)));

  /** Of this life, as no other is known to the worker for certain after a step of the clock. */
  const pauseNow = () => world.requests.findLast(({ at, pauseUntil = 0 }) => at >= lifeBegan && pauseUntil > elapsed());
  /** After a step of the clock, a worker that starts does not know how much of a pause is left. */
  const mayBePaused = (since: number): boolean =>
    world.requests.some(
      ({ at, pauseUntil = 0 }) =>
        pauseUntil > since || (pauseUntil > 0 && at > since - LONGEST_DOUBT_MS && steps.some((time) => time >= at)),
    );
  /** What a failed poll may have met, so that it is repeated; `startedAt` in elapsed ms. */
  const judgeFailure = (startedAt: number, { trigger, error_kind: errorKind }: Row): void => {
    const last = world.requests.findLast(({ endpoint }) => endpoint !== 'profile');
    // A catch-up is followed by another only if the pause was too long for its own retries.
    const least = trigger === 'catch-up' ? startedAt + RUN_TIMEOUT_MS : elapsed();
    if ((last?.pauseUntil ?? 0) > least && last?.endedAt === elapsed()) {
      pausedUntil = last?.pauseUntil ?? 0;
      awaited.set('a poll after a pause', pausedUntil + LONGEST_FIRST_WAIT_MS);
    }
    const sent = world.requests.filter(({ endedAt = startedAt }) => endedAt >= startedAt);
    const isPassing = sent.every(({ status = 503, pauseUntil }) => status === 503 && pauseUntil === undefined);
    const mayRepeat = isPassing && sent.length > 0 && elapsed() - startedAt < LONG_RUN_MS;
    if (mayRepeat && sent.length < 4 && PASSING.includes(String(errorKind)))
      fail(`gave up after ${sent.length} requests, though the failure might have passed`);
    const isBlocked = errorKind === 'credentials' || errorKind === 'database';
    if (sent.length === 0 && !mayBePaused(startedAt) && !isBlocked) fail('a poll failed without a request');
  };
  const judgeRun = ({ kind, outcome, run_id, trigger, error_kind, duration_ms }: Row): void => {
    if (kind !== 'leagues' || run_id === undefined) return;
    // Not what an earlier worker had in flight when it was killed.
    const lastLife = world.requests.at(-1)?.life;
    const sent = world.requests
      .slice(requestsBefore)
      .filter(({ endpoint, life }) => endpoint === 'leagues' && life === lastLife);
    requestsBefore = world.requests.length;
    const unanswered = sent.filter(({ status }) => status === undefined);
    if (unanswered.length > 4) fail(`run ${run_id}: tried ${unanswered.length} times`);
    const redirected = sent.filter(({ status = 0 }) => status >= 300 && status < 400 && status !== 304);
    if (redirected.length > 1) fail(`run ${run_id}: tried again after a redirect`);
    if (DENIALS.some((name) => world.switches.active().includes(name))) deniedAt = elapsed();
    if (error_kind === 'credentials' && elapsed() - deniedAt > DENIAL_MS && sent.length > 0)
      fail(`run ${run_id}: refused, although no fault refuses anything`);
    note(`run ${run_id} ${outcome} (${trigger})`);
    lastOutcome = String(outcome);
    if (elapsed() >= pausedUntil) awaited.delete('a poll after a pause');
    if (outcome === 'failed') judgeFailure(elapsed() - Number(duration_ms), { trigger, error_kind });
    const isStored = error_kind !== 'database' && troubleAt < elapsed() - Number(duration_ms);
    if (outcome === 'failed') failures = isStored && failures !== undefined ? failures + 1 : undefined;
    if (trigger === 'schedule' || trigger === 'catch-up') ends.push(elapsed());
    const startedAt = elapsed() - Number(duration_ms);
    const isSoon = startedAt - caughtUp.endedAt < 60_000 && !steps.some((time) => time >= caughtUp.startedAt);
    const isForNextSlot = caughtUp.nextSlot <= now() - Number(duration_ms);
    if (trigger === 'catch-up' && isSoon && !isForNextSlot) fail(`run ${run_id}: missed slots were made up twice`);
    if (trigger === 'catch-up' && GOOD.includes(String(outcome)))
      caughtUp = { startedAt, endedAt: elapsed(), nextSlot: schedule?.nextTime(now()) ?? Number.POSITIVE_INFINITY };
    if (elapsed() - (ends.at(-4) ?? Number.NEGATIVE_INFINITY) < 60_000) fail('four unrequested polls in a minute');
    if (!GOOD.includes(String(outcome))) return;
    const [found = {}] = rows(STATE);
    // Its row may say when it began by a clock that has stepped since.
    const hasStepped = steps.some((time) => time >= startedAt);
    const listedNow = new Set<string>(JSON.parse(String(found.live)));
    told = [
      ...told,
      {
        runId: Number(run_id),
        outcome: String(outcome),
        lastSeq: Number(found.seq),
        at: hasStepped ? Number.NEGATIVE_INFINITY : now(),
      },
    ];
    const staleAt = (schedule?.nextTimes(3, now()).at(-1) ?? Number.NaN) + RUN_TIMEOUT_MS;
    good = { runId: Number(run_id), startedAt, at: elapsed(), leftMs: staleAt - now(), staleAt };
    failures = 0;
    isUnsure = false;
    const { ids, contents, hasBadRows } = world.requests.findLast(({ endpoint }) => endpoint === 'leagues') ?? {};
    if (ids !== undefined && ['changed', 'unchanged'].includes(String(outcome))) {
      const listed = new Set(ids);
      const extra = [...listedNow].filter((id) => !listed.has(id));
      if (extra.length > 0) fail(`run ${run_id}: not in the answer, but live: ${extra}`);
      const missing = [...listed].filter((id) => !listedNow.has(id));
      if (missing.length > 0 && !hasBadRows) fail(`run ${run_id}: in the answer, but not live: ${missing}`);
      const lost = [...live].filter((id) => listed.has(id) && !listedNow.has(id));
      if (lost.length > 0) fail(`run ${run_id}: sent, but no longer live: ${lost}`);
      const stored: readonly (readonly [string, string])[] = JSON.parse(String(found.contents));
      const differing = stored.filter(([id, content]) => contents?.get(id) !== content);
      if (differing.length > 0 && !hasBadRows) fail(`run ${run_id}: stored otherwise than sent: ${differing}`);
    }
    const gone = [...live].filter((id) => !listedNow.has(id) && !accepted.has(id));
    if (gone.length > 5 && gone.length > live.size * removalLimit)
      fail(`run ${run_id}: the guard let ${gone.length} go`);
    for (const id of listedNow)
      if (!gone.includes(id) && world.leagues().some((one) => one.league_id === id)) accepted.delete(id);
    const missing = [...live].filter((id) => !ids?.includes(id) && !accepted.has(id));
    if (outcome === 'held' && ids !== undefined && ids.length > 0 && !hasBadRows && missing.length <= 5)
      fail(`run ${run_id}: held, though only ${missing.length} are missing`);
    const held: readonly string[] = JSON.parse(String(found.held));
    if (ids !== undefined && Number(found.rejected) > 0 !== Number(found.open) > 0)
      fail(`run ${run_id}: ${found.rejected} rejected, but ${found.open} open`);
    const strays = held.filter((id) => !accepted.has(id) && (outcome !== 'held' || !missing.includes(id)));
    const unheld = missing.filter((id) => outcome === 'held' && !held.includes(id));
    if (ids !== undefined && !hasBadRows && strays.length + unheld.length > 0)
      fail(`run ${run_id} ${outcome}: held without a reason: ${strays}; missing, but not held: ${unheld}`);
    if (held.some((id) => !heldBefore.includes(id))) deliveries.noteHeld(elapsed());
    heldBefore = held;
    live = listedNow;
    const back = held.filter((id) => ids?.includes(id));
    if (back.length > 0) fail(`run ${run_id}: listed, but still held: ${back}`);
  };
  const isBeforePerson = (at: number): boolean => persons.some((time) => time >= at);
  /** `since`: the requests after the last login, which was granted in this life. */
  const judgeRenewal = (request: Request, [granted, ...since]: readonly Request[]): void => {
    const grantedAt = granted?.at ?? 0;
    const isDisturbed = [...persons, ...steps].some((time) => time >= grantedAt);
    if (isDisturbed || request.at - deniedAt < DENIAL_MS || mayBePaused(grantedAt)) return;
    const isRejected = since.some(({ status, isFailure }) => status === 401 || status === 403 || isFailure);
    const ageMs = request.at - grantedAt;
    if (ageMs < (world.tokenLifeMs * 2) / 3 - 1_000 && !isRejected)
      fail(`logged in again after ${ageMs} ms, though nothing was rejected`);
    if (ageMs > world.tokenLifeMs + LONGEST_FIRST_WAIT_MS) fail(`a token was renewed only after ${ageMs} ms`);
  };
  const judgeRequests = (): void => {
    for (; judgedRequests < world.requests.length; judgedRequests += 1) {
      const request = world.requests[judgedRequests] as Request;
      const before = world.requests.slice(0, judgedRequests);
      const open = before.find(
        (one) =>
          one.life === request.life &&
          one.endpoint === request.endpoint &&
          (one.endedAt ?? Number.POSITIVE_INFINITY) > request.at,
      );
      if (open !== undefined) fail(`two requests of ${request.endpoint} at once`);
      const pause = before.findLast(({ pauseUntil = 0 }) => pauseUntil > request.at);
      const isStored = pause !== undefined && troubleAt < pause.at && !steps.some((at) => at >= pause.at);
      const isKnown = pause !== undefined && (pause.life === request.life || isStored);
      if (request.isConditional && heldBefore.length > 0) fail('a condition was sent while removals are held');
      if (request.isLate) fail(`a request of ${request.endpoint} with a token that had expired`);
      if (isKnown && (pause.endedAt ?? 0) < request.at)
        fail(`sent ${(pause.pauseUntil ?? 0) - request.at} ms before the end of a Retry-After`);
      const refused = before.findLast(({ endpoint }) => endpoint === 'login');
      if (request.endpoint === 'login') awaited.delete('a login for a person');
      if (request.endpoint === 'login' && refused?.status === 200 && refused.life === request.life)
        judgeRenewal(request, before.slice(before.indexOf(refused)));
      if (request.endpoint !== 'login' || refused?.status !== 401 || refused.life !== request.life) continue;
      if (persons.some((at) => at >= refused.at)) continue;
      const waitedMs = request.at - refused.at;
      const again = before.filter(({ endpoint, life }) => endpoint === 'login' && life === refused.life);
      const count = again.length - 1 - again.findLastIndex(({ status, at }) => status !== 401 || isBeforePerson(at));
      const leastMs = Math.min(60_000 * 2 ** Math.max(0, count - 1), 3_600_000) - 1_000;
      if (waitedMs < leastMs) fail(`a login ${waitedMs} ms after it was refused ${count} times in a row`);
      const earlier = before.filter(({ endpoint, life }) => endpoint === 'login' && life === refused.life).at(-2);
      const isFirst = earlier?.status === 200 && pause === undefined && before.at(-1) === refused;
      if (isFirst && waitedMs > 110_000) fail(`the first login after a refusal came ${waitedMs} ms later`);
    }
  };
  const judgeTries = (): void => {
    for (; judgedTries < world.tries.length; judgedTries += 1) {
      const one = world.tries[judgedTries];
      const earlier = world.tries.slice(0, judgedTries).filter(({ id }) => id === one?.id);
      const before = world.tries.slice(0, judgedTries);
      const pause = before.findLast(({ pauseUntil = 0 }) => pauseUntil > (one?.at ?? 0));
      const isKnown = pause !== undefined && Math.max(troubleAt, restoredAt) < pause.at && !isLost(pause.at);
      if (isKnown && one !== undefined && !steps.some((time) => time >= pause.at))
        fail(`a message ${(pause.pauseUntil ?? 0) - one.at} ms before the end of a Retry-After`);
      const gone = before.at(-1);
      const isStopped = gone?.status === 410 && Math.max(movedAt, troubleAt, restoredAt) < gone.at && !isLost(gone.at);
      if (isStopped) fail('a message after 410 (Gone)');
      const last = earlier.at(-1);
      const waitedMs = (one?.at ?? 0) - (last?.at ?? 0);
      const answer = world.delivered.find(({ id, at }) => id === last?.id && at >= last.at && at < (one?.at ?? 0));
      if (last?.life === one?.life && isAccepted(answer?.status))
        fail('a message was sent again after it was accepted');
      const [first] = earlier;
      const isDisturbed = [troubleAt, ...persons, ...steps].some((time) => time >= (first?.at ?? 0));
      if (first === undefined || isDisturbed || first.life !== one?.life) continue;
      const leastMs = WAITS_MS[earlier.length - 1] ?? LAST_WAIT_MS;
      if (waitedMs < leastMs || waitedMs > leastMs * 1.1 + LONGEST_FIRST_WAIT_MS)
        fail(`attempt ${earlier.length + 1} at a message came after ${waitedMs} ms`);
    }
  };
  const judgeDeliveries = (): void => {
    for (; judgedDeliveries < world.delivered.length; judgedDeliveries += 1)
      deliveries.judge(world.delivered[judgedDeliveries]);
  };
  /** While no message is in flight, all has been told (null: it held at the first start). */
  const judgeRest = (): void => {
    const [row] = rows(REST);
    if (row?.message_id !== null || row.stopped_at !== null) return;
    if (row.refusals !== 0 || troubleAt > elapsed() - 300_000) return;
    // A message that was given up may still be under way.
    if ((world.tries.at(-1)?.at ?? Number.NEGATIVE_INFINITY) > elapsed() - 20_000) return;
    if (String(row.held ?? '') > String(row.announced_held_since ?? ''))
      fail(`what is held since ${row.held} is not told`);
    if (row.accepted_seq !== lastSeq()) fail(`told ${row.accepted_seq} of ${lastSeq()} changes, and nothing is sent`);
    const differs = (told: unknown, holds: boolean) =>
      (told ?? Number(holds)) !== Number(holds) || (told === null && !holds);
    const stale = isStale();
    if (stale !== undefined && differs(row.announced_stale, stale)) fail(`stale is told as ${row.announced_stale}`);
    const isKnown = row.login === 'ok' || row.login === 'refused';
    if (isKnown && differs(row.announced_refused, row.login === 'refused'))
      fail(`refused is told as ${row.announced_refused}`);
  };
  /** Logins and failed polls that are too old are deleted within a day, or two after a step of the clock, if they can be. */
  const expectPruned = (at: string): void => {
    const since = elapsed() - 3 * DAY_MS;
    if (troubleAt > since || steps.some((time) => time > since)) return;
    const before = new Date(now() - currentRetentionMs - 2 * DAY_MS).toISOString();
    const [old = {}] = rows(tooOld(before), at);
    if (old.logins !== 0 || old.runs !== 0) fail(`kept for too long: ${JSON.stringify(old)}`);
  };
  const judgeAwaited = (): void => {
    const isDoubtful = steps.some((time) => time <= lifeBegan) && mayBePaused(lifeBegan);
    for (const [what, until] of awaited) {
      const isBlocked =
        isDoubtful ||
        (what === 'a poll after a pause' && (elapsed() - deniedAt < DENIAL_MS || pauseNow() !== undefined));
      const pauseEnds = Math.max(...world.requests.map(({ pauseUntil = 0 }) => pauseUntil));
      if (elapsed() > Math.max(until, pauseEnds + LONGEST_FIRST_WAIT_MS) && !isBlocked) fail(`${what} did not come`);
    }
  };
  const isStale = (): boolean | undefined => {
    if (good === undefined || now() >= good.staleAt) return true;
    const { at, leftMs } = good;
    if (at >= lifeBegan && elapsed() >= at + leftMs) return true;
    return steps.some((time) => time >= at) ? undefined : false;
  };
  /** Only what the last login of this life was told, unless the leagues were polled after it. */
  const isRefused = (): boolean | undefined => {
    const sent = world.requests.filter(({ at }) => at >= lifeBegan);
    const login = sent.findLast(({ endpoint }) => endpoint === 'login');
    if (login?.status === 401 && login === sent.at(-1)) return true;
    return GOOD.includes(lastOutcome) && login?.status === 200 && sent.at(-1)?.endpoint !== 'profile'
      ? false
      : undefined;
  };
  const known = (): Known => ({
    good,
    isStale: isStale(),
    // The view compares the clock with the start of that poll.
    isStaleInFile: steps.some((time) => good !== undefined && time >= good.startedAt) ? undefined : isStale(),
    live: live.size,
    failures,
    isRefused: isRefused(),
    isLoggedIn: isWell || undefined,
    isWritable: GOOD.includes(lastOutcome) && (good?.at ?? 0) > troubleAt,
  });
  return {
    fail,
    lastSeq,
    judgeState: async (app: App, said: Set<string>): Promise<void> => {
      if (isUnsure) return;
      for (const text of await judgeState({ app, said, rows }, known())) fail(text);
      judgeRest();
    },
    setSettings: (given: Config): void => {
      ({ schedule, removalLimit } = given);
      currentRetentionMs = given.runRetentionMs;
      retentionMs = Math.min(retentionMs, currentRetentionMs);
    },
    /** `isRefusing`: whether a table takes nothing; by default as before. */
    markTrouble: (isRefusing = troubleAt === Number.POSITIVE_INFINITY): void => {
      troubleAt = isRefusing ? Number.POSITIVE_INFINITY : elapsed();
    },
    /** From now on, the worker has a few minutes for this. */
    await: (what: 'a poll at its slot' | 'a poll that was asked for'): void => {
      // A slot within a second of a step of the clock may be missed.
      const isThere = what === 'a poll at its slot' && Math.max(lastLineAt, (steps.at(-1) ?? 0) + 1_000) >= elapsed();
      if (!isThere && !awaited.has(what)) awaited.set(what, elapsed() + LONGEST_FIRST_WAIT_MS);
    },
    /** The worker was stopped, or the clock stepped. */
    endLife: (): void => awaited.clear(),
    kill: (): void => {
      awaited.clear();
      judgeDeliveries();
      kills.push(elapsed());
      deliveries.kill(elapsed());
    },
    beginLife: (at: string): void => {
      path = at;
      live = readLive();
      persons.push(elapsed());
      lifeBegan = elapsed();
      lastOutcome = '';
      failures = undefined;
      isUnsure = (rows(LAST_GOOD)[0]?.id ?? undefined) !== good?.runId;
      const isRecent = good !== undefined && elapsed() - good.at < 60_000;
      if (!isUnsure && !isRecent) awaited.set('a poll at the start', elapsed() + LONGEST_FIRST_WAIT_MS);
    },
    backUp: (): void => {
      backup = { told, good };
    },
    restore: (at: string): void => {
      ({ told, good } = backup);
      heldBefore = [];
      restoredAt = elapsed();
      // What was accepted when the backup was made is accepted again, and nothing else is.
      accepted.clear();
      const held = rows('SELECT league_id FROM held_removals WHERE accepted_at IS NOT NULL', at);
      for (const { league_id } of held) accepted.add(String(league_id));
      requestsBefore = world.requests.length;
      persons.push(elapsed());
      // Like a step of the clock, it makes an earlier worker's Retry-After unknown.
      steps.push(elapsed());
      judgeDeliveries();
      deliveries.restore(rows('SELECT * FROM webhook', at)[0], elapsed());
      path = at;
    },
    markPerson: (): unknown => persons.push(elapsed()),
    markStep: (): void => {
      steps.push(elapsed());
      latest = Math.max(latest, now());
    },
    /** A person has made refused credentials worth another try. */
    expectLogin: (isRunning: boolean): void => {
      if (isRunning && isRefused()) awaited.set('a login for a person', elapsed() + LONGEST_FIRST_WAIT_MS);
    },
    markDenial: (): void => {
      deniedAt = elapsed();
    },
    accept: (ids: readonly string[]): void => {
      for (const id of ids) accepted.add(id);
    },
    moveWebhook: (seq: number): void => {
      movedAt = elapsed();
      judgeDeliveries();
      deliveries.move(seq);
    },
    acceptedSeq: (at: string): number => Number(rows('SELECT accepted_seq FROM webhook', at)[0]?.accepted_seq ?? 0),
    /** Reads a line of the worker's log. */
    read: (line: Row, text: string): void => {
      for (const secret of world.secrets) if (text.includes(secret)) fail(`the log has a secret: ${line.msg}`);
      if (line.kind === 'leagues' && line.trigger !== undefined) {
        lastLineAt = elapsed();
        awaited.delete('a poll at its slot');
      }
      if (line.not_before !== undefined && !mayBePaused(elapsed() - 1_000))
        fail('postponed, although no pause goes on');
      if (line.kind === 'leagues' && line.trigger === 'start') awaited.delete('a poll at the start');
      if (line.kind === 'leagues' && line.trigger === 'manual') awaited.delete('a poll that was asked for');
      if (String(line.msg).includes('could not be written')) {
        isEndUnsaved = true;
        failures = undefined;
      }
      if (line.outcome !== undefined && line.duration_ms !== undefined) judgeRun(line);
    },
    throwIfFailed: (): void => {
      latest = Math.max(latest, now());
      if (DENIALS.some((name) => world.switches.active().includes(name))) deniedAt = elapsed();
      judgeRequests();
      judgeTries();
      judgeAwaited();
      judgeDeliveries();
      if (failure !== undefined) throw new Error(failure);
    },
    /** Looks at the whole database, after a stop or a kill. */
    look: (at: string, isStopped: boolean): void => {
      if (!existsSync(at)) return;
      const files = ['', '-wal'].map((suffix) => at + suffix).filter((file) => existsSync(file));
      const bytes = files.map((file) => readFileSync(file));
      for (const secret of [...world.secrets].slice(searchedSecrets))
        if (bytes.some((content) => content.includes(secret))) fail('the database has a secret');
      searchedSecrets = world.secrets.size;
      const [found = {}] = rows(WHOLE, at);
      const outcomes = new Map<unknown, unknown>(JSON.parse(String(found.outcomes)));
      const seq = Number(found.seq);
      for (const { runId, outcome, lastSeq: reported, at: toldAt } of told) {
        const mayBeDeleted = toldAt - RUN_TIMEOUT_MS < latest - retentionMs && !outcomes.has(runId);
        if (outcomes.get(runId) !== outcome && !mayBeDeleted)
          fail(`run ${runId} was reported ${outcome} and is ${outcomes.get(runId)}`);
        if (seq < reported) fail(`change ${reported} was reported and is gone`);
      }
      const { changes, runs, running, tries, unequal, broken, miscounted, orphans, login } = found;
      const sent = world.requests.filter(({ at: sentAt, endpoint }) => sentAt >= lifeBegan && endpoint === 'login');
      const outcomeOf = { 200: 'ok', 401: 'refused' }[Number(sent.at(-1)?.status)] ?? 'failed';
      if (isStopped && sent.length > 0 && troubleAt < lifeBegan && login !== outcomeOf)
        fail(`the last login is stored as ${login}, but was ${outcomeOf}`);
      if (isStopped && Number(running) > 0 !== isEndUnsaved) fail(`${running} runs go on after a stop`);
      isEndUnsaved = false;
      const isOneEnded = (good?.at ?? 0) <= troubleAt || Number(running) <= 1;
      if (changes || runs || !isOneEnded) fail(`out of order: ${JSON.stringify({ changes, runs, running })}`);
      if (tries !== null) fail(`run ${tries} was not tried four times`);
      if (miscounted !== null) fail(`the counts of run ${miscounted} are not those of its changes`);
      if (orphans !== 0) fail(`${orphans} rows name runs that are gone`);
      if (broken !== null) fail(`change ${broken} does not follow the one before it`);
      if (unequal !== null) fail(`the feed does not give the table: ${unequal}`);
    },
    /** Faults have ended long ago. */
    expectWell: (at: string, copiedSeq: number): void => {
      isWell = true;
      if (copiedSeq !== lastSeq(at)) fail(`the copy has ${copiedSeq} of ${lastSeq(at)}`);
      const [last] = rows("SELECT * FROM runs WHERE kind = 'leagues' ORDER BY id DESC LIMIT 1", at);
      if (!['changed', 'unchanged'].includes(String(last?.outcome))) fail(`the last poll is ${JSON.stringify(last)}`);
      const stored = readLive(at);
      const listed = world.leagues().map(({ league_id }) => String(league_id));
      if (stored.size !== listed.length || listed.some((id) => !stored.has(id)))
        fail('the leagues are not those of the service');
      deliveries.expectEnded();
      expectPruned(at);
      const attention = rows(TO_DO, at);
      if (attention.length > 0) fail(`attention: ${JSON.stringify(attention)}`);
      const [hook] = rows('SELECT accepted_seq, announced_stale, announced_refused FROM webhook', at);
      if (hook?.announced_stale !== 0 || hook?.announced_refused !== 0) fail(`told: ${JSON.stringify(hook)}`);
      if (hook?.accepted_seq !== lastSeq(at)) fail(`the webhook has ${hook?.accepted_seq} of ${lastSeq(at)}`);
    },
  };
}

const DAY_MS = 24 * 3_600_000;
/** Between the attempts at a message (contract, 10); each up to a tenth longer. */
const WAITS_MS = [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000];
const LAST_WAIT_MS = 36_000_000;
/** The longest step of a clock, and a pause. */
const LONGEST_DOUBT_MS = 42 * 3_600_000;
/** After the first refusal: a minute, and a short sleep may last minutes longer. */
const LONGEST_FIRST_WAIT_MS = 50 * 60_000;
/** Faults with which a token or the password is refused, and how long they may have an effect. */
const DENIALS = ['login-refused', 'always-401', 'profile-forbidden', 'wrong-clock', 'born-expired'];
const DENIAL_MS = 2 * 3_600_000;
const RUN_TIMEOUT_MS = 120_000;
/** Kinds of failures that are tried again; a run that lasts this long may have no time for that. */
const PASSING = ['network', 'status', 'timeout'];
const LONG_RUN_MS = 60_000;
const isAccepted = (status = 0): boolean => status >= 200 && status < 300;
const tooOld = (before: string): string => `SELECT
  (SELECT count(*) FROM logins WHERE at < '${before}' AND id < (SELECT max(id) FROM logins)) AS logins,
  (SELECT count(*) FROM runs WHERE started_at < '${before}' AND kind = 'leagues' AND outcome = 'failed'
    AND id < (SELECT id FROM last_polls) AND id NOT IN (SELECT first_run_id FROM rejected_leagues)
    AND id NOT IN (SELECT first_run_id FROM held_removals) AND id NOT IN (SELECT first_run_id FROM drift)) AS runs`;
const GOOD = ['changed', 'unchanged', 'held'];
const REST = `SELECT message_id, stopped_at, accepted_seq, announced_stale, announced_refused, announced_held_since,
  (SELECT max(held_since) FROM held_removals WHERE accepted_at IS NULL) AS held,
  (SELECT count(*) FROM sqlite_schema WHERE name LIKE 'refuse_%') AS refusals,
  (SELECT outcome FROM logins ORDER BY id DESC LIMIT 1) AS login FROM webhook`;
const LIVE = 'SELECT league_id FROM leagues WHERE removed_at IS NULL';
const LAST_GOOD = `SELECT max(id) AS id FROM runs
  WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held')`;
/** A profile that is no longer polled may stay interrupted. */
const TO_DO = `SELECT what FROM attention
  WHERE what NOT IN ('drift', 'unusual-change') AND summary NOT LIKE 'A poll of the profile %'`;
const STATE = `SELECT (SELECT coalesce(max(seq), 0) FROM league_changes) AS seq,
  (SELECT json_group_array(league_id) FROM leagues WHERE removed_at IS NULL) AS live,
  (SELECT json_group_array(json_array(league_id, league_name || ' ' || priority)) FROM leagues WHERE removed_at IS NULL)
    AS contents,
  (SELECT rejected FROM runs WHERE id = (SELECT good_run_id FROM last_polls)) AS rejected,
  (SELECT open_rejections FROM freshness) AS open,
  (SELECT json_group_array(league_id) FROM held_removals) AS held`;
/**
 * Everything that must hold in a database that no program has open; `unequal`: a league whose last change is another;
 * `broken`: a change that does not begin where the one before it has ended; `miscounted`: a run whose counts do not add
 * up, or not to its changes.
 */
const WHOLE = `SELECT (SELECT coalesce(max(seq), 0) FROM league_changes) AS seq,
  (SELECT json_group_array(json_array(id, outcome)) FROM runs) AS outcomes,
  (SELECT count(*) FROM (SELECT at, lag(at) OVER (ORDER BY seq) AS before FROM league_changes) WHERE at < before) AS changes,
  (SELECT count(*) FROM (SELECT finished_at AS at, lag(finished_at) OVER (ORDER BY id) AS before FROM runs
    WHERE outcome IN ('changed', 'unchanged', 'held')) WHERE at <= before) AS runs,
  (SELECT count(*) FROM runs WHERE outcome = 'running') AS running,
  (SELECT max(id) FROM runs WHERE kind = 'leagues' AND error_kind = 'network' AND not_before IS NULL
    AND (attempts > 6 OR attempts BETWEEN 1 AND 3 AND finished_at < strftime('%FT%H:%M:%fZ', started_at, '+60 seconds')))
    AS tries,
  (SELECT outcome FROM logins ORDER BY id DESC LIMIT 1) AS login,
  (SELECT count(*) FROM (SELECT run_id AS id FROM league_changes UNION ALL SELECT first_run_id FROM rejected_leagues
      UNION ALL SELECT first_run_id FROM held_removals UNION ALL SELECT first_run_id FROM drift)
    WHERE id NOT IN (SELECT id FROM runs)) AS orphans,
  (SELECT max(id) FROM runs LEFT JOIN (
      SELECT run_id, json_array(count(*) FILTER (WHERE kind = 'added'), count(*) FILTER (WHERE kind = 'changed'),
        count(*) FILTER (WHERE kind = 'removed'), count(*) FILTER (WHERE kind = 'restored')) AS counts
      FROM league_changes GROUP BY run_id) ON run_id = id
    WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held')
      AND (http_status <> 304 AND received <> added + changed + unchanged + restored + rejected + duplicates
        OR json_array(added, changed, removed, restored) <> coalesce(counts, '[0,0,0,0]'))) AS miscounted,
  (SELECT max(seq) FROM (SELECT seq, kind, before, lag(kind) OVER of_league AS last,
      lag(coalesce(after, before)) OVER of_league AS ended
      FROM league_changes WINDOW of_league AS (PARTITION BY league_id ORDER BY seq)) AS change
    WHERE CASE kind WHEN 'added' THEN last IS NOT NULL WHEN 'restored' THEN last IS NOT 'removed'
        ELSE coalesce(last, 'removed') = 'removed' OR before = '{}' END
      OR EXISTS (SELECT * FROM json_each(before) AS old WHERE old.value IS NOT ended ->> ('$.' || old.key))) AS broken,
  (SELECT max(league_id) FROM leagues
    LEFT JOIN (SELECT league_id, kind, after, at, max(seq) FROM league_changes GROUP BY league_id) USING (league_id)
    WHERE kind IS NULL OR iif(kind = 'removed', removed_at, changed_at) <> at OR (kind = 'removed') <> (removed_at IS NOT NULL)
      OR (kind <> 'removed' AND (after ->> 'league_name' <> league_name OR after ->> 'priority' <> priority))) AS unequal`;

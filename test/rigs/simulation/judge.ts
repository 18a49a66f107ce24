import { existsSync, readFileSync } from 'node:fs';
import type { Config } from '../../../src/config/config.ts';
import { isSuccess } from '../../../src/http/response.ts';
import type { createApp } from '../../../src/observe/routes.ts';
import type { Row } from '../../support/database.ts';
import { createDeliveryJudge } from './delivery-judge.ts';
import { judgeList, readStored } from './list-judge.ts';
import { createPast, isRejection, mayPass } from './past.ts';
import { feed, LAST_GOOD, LAST_PROFILE, LIVE, LOGINS_READ, REST, STATE, TO_DO, tooOld, WHOLE } from './queries.ts';
import type { Reader } from './reader.ts';
import { createRequestJudge, DENIAL_MS, HOUR_MS, REQUEST_MS, refusalWaitMs } from './request-judge.ts';
import type { Request, World } from './service.ts';
import { judgeState, type Known } from './state-judge.ts';

type App = ReturnType<typeof createApp>;
type Around = {
  /** How much longer than it should a short sleep may last (ms). */
  readonly slackMs: number;
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
  | 'a poll of the profile'
  | 'a poll that was asked for'
  | 'a poll after a pause'
  | 'a poll at the start'
  | 'a login for a person';

/** What holds at all times. Remembers the first thing that does not. */
export function createJudge(world: World, { slackMs, elapsed, now, note, reader }: Around) {
  const longestWaitMs = slackMs + LONGEST_RETRY_MS;
  const past = createPast(world);
  let failure: string | undefined;
  /** Whether the worker said at its stop that the end of a run could not be written. */
  let isEndUnsaved = false;
  let path = '';
  /** When removals began to be held. */
  let heldAt = 0;
  /** What the last good poll has left. */
  let before = readStored(undefined);
  let [removalLimit, leewayMs] = [0.2, 0];
  /** The shortest of any life: what it has deleted does not come back. */
  let retentionMs = Number.POSITIVE_INFINITY;
  let currentRetentionMs = retentionMs;
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
  /** Polls of this life whose end may not have been stored at once. */
  let unsaved = 0;
  /** How the last poll of this life ended. */
  let lastOutcome = '';
  let schedule: Config['schedule'] | undefined;
  let profileSchedule: Config['profileSchedule'] | undefined;
  let searchedSecrets = 0;
  /** When the pause ends after which a poll must come. */
  let pausedUntil = 0;
  /** When unrequested polls ended, in elapsed ms. */
  const ends: number[] = [];
  /** The last good poll that made up for missed slots, in elapsed ms, and the slot after it, by the wall clock. */
  let caughtUp = { startedAt: Number.NEGATIVE_INFINITY, endedAt: Number.NEGATIVE_INFINITY, nextSlot: 0 };
  const accepted = new Set<string>();
  /** When the last poll began. */
  let lastStart = { elapsed: 0, wall: 0, errorKind: undefined as unknown };
  /** When polls were asked for that may still begin. */
  let asks: readonly number[] = [];
  let denials = { count: 0, endedAt: 0 };
  /** When a poll of the profile was told last, and is due next, by the wall clock. */
  let [profileAt, profileNext] = [0, Number.POSITIVE_INFINITY];
  let judgedDeliveries = 0;
  let requestsBefore = 0;
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
    const isLong = first !== undefined && lastGood >= 0 && at - first.at > longestWaitMs;
    return isLong && !past.hadPerson(logins[lastGood]?.at ?? 0);
  };
  /** Whether the last login was refused, nothing was granted after it, and no person did anything. */
  const isStillRefused = (at: number): boolean => {
    const ended = world.requests.filter(({ endedAt = Number.POSITIVE_INFINITY }) => endedAt <= at);
    const refused = ended.findLastIndex(({ endpoint, status }) => endpoint === 'login' && status === 401);
    const later = ended.slice(refused + 1);
    const isKnown = refused >= 0 && !past.hadPerson(ended[refused]?.at ?? 0);
    return isKnown && !later.some(({ status }) => status === 200 || status === 304);
  };
  const fail = (text: string): void => {
    failure ??= text;
    note(`FAILED: ${text}`);
  };
  const { judgeRequests } = createRequestJudge(world, {
    ...{ past, fail, slackMs, longestWaitMs },
    leewayMs: () => leewayMs,
    isHolding: (at) => before.held.size > 0 && at > heldAt,
    onLogin: () => awaited.delete('a login for a person'),
  });
  const deliveries = createDeliveryJudge(fail, {
    ...{ hasData: () => told.length > 0, isRefusalUntold, isStillRefused },
    isStaleUntold: (at) => {
      const last = good;
      if (last === undefined || [...past.steps, ...past.persons].some((time) => time >= last.at)) return false;
      return at > last.at + last.leftMs + longestWaitMs;
    },
    feed: (from, to) => JSON.stringify(rows(feed(from, to)).map(({ change }) => JSON.parse(String(change)))),
    triedAt: (id) => world.tries.find((one) => one.id === id)?.at ?? elapsed(),
  });
  const rows = (sql: string, at = path): readonly Row[] => reader.rows(at, sql);
  const lastSeq = (at = path): number => Number(rows('SELECT max(seq) AS seq FROM league_changes', at)[0]?.seq ?? 0);
  const readLive = (at = path): Set<string> => new Set(rows(LIVE, at).map(({ league_id }) => String(league_id)));

  /** Of this life, as no other is known to the worker for certain after a step of the clock. */
  const pauseNow = () =>
    world.requests.findLast(({ at, pauseUntil = 0 }) => at >= past.lifeBegan && pauseUntil > elapsed());
  /** What a failed poll may have met, so that it is repeated; `startedAt` in elapsed ms. */
  const judgeFailure = (startedAt: number, { trigger, error_kind: errorKind }: Row): void => {
    const last = world.requests.findLast(({ endpoint }) => endpoint !== 'profile');
    // A catch-up is followed by another only if the pause was too long for its own retries.
    const least = trigger === 'catch-up' ? startedAt + RUN_TIMEOUT_MS : elapsed();
    if ((last?.pauseUntil ?? 0) > least && last?.endedAt === elapsed()) {
      pausedUntil = last?.pauseUntil ?? 0;
      awaited.set('a poll after a pause', pausedUntil + longestWaitMs);
    }
    const sent = world.requests.filter(({ endedAt = startedAt }) => endedAt >= startedAt);
    const isPassing = sent.every(({ status = 503, pauseUntil }) => mayPass(status) && pauseUntil === undefined);
    const mayRepeat = isPassing && sent.length > 0 && elapsed() - startedAt < LONG_RUN_MS;
    if (mayRepeat && sent.length < 4 && PASSING.includes(String(errorKind)))
      fail(`gave up after ${sent.length} requests, though the failure might have passed`);
    const isBlocked = errorKind === 'credentials' || errorKind === 'database';
    if (sent.length === 0 && !past.mayBePaused(startedAt) && !isBlocked) fail('a poll failed without a request');
    const rejected = world.requests.findLast((request) => request.at >= past.lifeBegan && isRejection(request));
    const blockedMs = elapsed() - Math.max(rejected?.endedAt ?? 0, ...past.persons);
    if (
      sent.length === 0 &&
      errorKind === 'credentials' &&
      !past.mayBePaused(startedAt) &&
      blockedMs > HOUR_MS + longestWaitMs
    )
      fail(`a poll was blocked ${blockedMs} ms after the last rejection`);
  };
  const judgeTrigger = (trigger: unknown, startedAt: number, errorKind: unknown): void => {
    const wallAt = now() - elapsed() + startedAt;
    const isDueSince = (time: number): boolean => (schedule?.nextTime(time) ?? 0) <= wallAt;
    const isKnown = !past.hasStepped(lastStart.elapsed);
    if (trigger === 'start' && lastOutcome !== '') fail('a second poll at one start');
    if (isKnown && trigger === 'schedule' && !isDueSince(wallAt - 300_000)) fail('a poll at no slot');
    // A poll that failed while the session waits is made up for, also if it failed for another reason.
    const mayWait = world.requests.some((request) => request.at >= past.lifeBegan && isRejection(request));
    const isOwed = (lastStart.errorKind !== undefined && mayWait) || past.mayBePaused(lastStart.elapsed);
    if (isKnown && trigger === 'catch-up' && !isDueSince(lastStart.wall) && !isOwed) fail('a catch-up of nothing');
    if (trigger === 'manual' && asks.length === 0) fail('a manual poll that was not asked for');
    if (trigger === 'manual') asks = asks.filter((time) => time >= startedAt - REQUEST_MS);
    lastStart = { elapsed: startedAt, wall: wallAt, errorKind };
  };
  /** A list to which even a new token gave no access is asked for after a minute, doubling to an hour. */
  const judgeDenial = (sent: readonly Request[], startedAt: number, errorKind: unknown): void => {
    const isKnown = denials.endedAt >= past.lifeBegan && !past.hadPerson(denials.endedAt - REQUEST_MS);
    const waitMs = refusalWaitMs(denials.count);
    if (isKnown && denials.count > 0 && sent.length > 0 && startedAt - denials.endedAt < waitMs)
      fail(`polled ${startedAt - denials.endedAt} ms after access was denied ${denials.count} times in a row`);
    const last = sent.at(-1);
    const isDenied =
      errorKind === 'credentials' && last === world.requests.at(-1) && (last?.status === 401 || last?.status === 403);
    if (isDenied) denials = { count: isKnown ? denials.count + 1 : 1, endedAt: last.endedAt ?? 0 };
    else if (errorKind === undefined) denials = { count: 0, endedAt: 0 };
  };
  const noteDenial = (): void => {
    if (DENIALS.some((name) => world.switches.active().includes(name))) past.deniedAt = elapsed();
  };
  const judgeRun = ({ kind, outcome, run_id, trigger, error_kind, duration_ms, attempts, received }: Row): void => {
    if (kind !== 'leagues' || run_id === undefined) return;
    // Not what an earlier worker had in flight when it was killed.
    const lastLife = world.requests.at(-1)?.life;
    const sent = world.requests
      .slice(requestsBefore)
      .filter(({ endpoint, life }) => endpoint === 'leagues' && life === lastLife);
    requestsBefore = world.requests.length;
    const failed = sent.filter(({ status: found = 503 }) => mayPass(found));
    if (failed.length > 4) fail(`run ${run_id}: tried ${failed.length} times`);
    const redirected = sent.filter(({ status = 0 }) => status >= 300 && status < 400 && status !== 304);
    if (redirected.length > 1) fail(`run ${run_id}: tried again after a redirect`);
    const isHasty = ({ status = 503, endedAt }: Request, next?: Request) =>
      mayPass(status) && next !== undefined && endedAt === next.at;
    if (sent.some((request, index) => isHasty(request, sent[index + 1]))) fail(`run ${run_id}: tried again at once`);
    noteDenial();
    if (error_kind === 'credentials' && elapsed() - past.deniedAt > DENIAL_MS && sent.length > 0)
      fail(`run ${run_id}: refused, although no fault refuses anything`);
    note(`run ${run_id} ${outcome} (${trigger})`);
    judgeTrigger(trigger, elapsed() - Number(duration_ms), error_kind);
    judgeDenial(sent, elapsed() - Number(duration_ms), error_kind);
    lastOutcome = String(outcome);
    if (elapsed() >= pausedUntil) awaited.delete('a poll after a pause');
    if (outcome === 'failed') judgeFailure(elapsed() - Number(duration_ms), { trigger, error_kind });
    const isStored = error_kind !== 'database' && past.troubleAt < elapsed() - Number(duration_ms);
    if (past.troubleAt === Number.POSITIVE_INFINITY) unsaved += 1;
    if (outcome === 'failed') failures = isStored && failures !== undefined ? failures + 1 : undefined;
    if (trigger === 'schedule' || trigger === 'catch-up') ends.push(elapsed());
    const startedAt = elapsed() - Number(duration_ms);
    const isSoon = startedAt - caughtUp.endedAt < 60_000 && !past.hasStepped(caughtUp.startedAt);
    const isForNextSlot = caughtUp.nextSlot <= now() - Number(duration_ms);
    if (trigger === 'catch-up' && isSoon && !isForNextSlot) fail(`run ${run_id}: missed slots were made up twice`);
    if (trigger === 'catch-up' && GOOD.includes(String(outcome)))
      caughtUp = { startedAt, endedAt: elapsed(), nextSlot: schedule?.nextTime(now()) ?? Number.POSITIVE_INFINITY };
    if (elapsed() - (ends.at(-4) ?? Number.NEGATIVE_INFINITY) < 60_000) fail('four unrequested polls in a minute');
    if (!GOOD.includes(String(outcome))) return;
    const found = readStored(rows(STATE)[0]);
    // Its row may say when it began by a clock that has stepped since.
    const hasStepped = past.hasStepped(startedAt);
    told = [
      ...told,
      {
        runId: Number(run_id),
        outcome: String(outcome),
        lastSeq: found.seq,
        at: hasStepped ? Number.NEGATIVE_INFINITY : now(),
      },
    ];
    const staleAt = (schedule?.nextTimes(3, now()).at(-1) ?? Number.NaN) + RUN_TIMEOUT_MS;
    good = { runId: Number(run_id), startedAt, at: elapsed(), leftMs: staleAt - now(), staleAt };
    failures = 0;
    isUnsure = false;
    const { status, list } = world.requests.findLast(({ endpoint }) => endpoint === 'leagues') ?? {};
    const counts = [sent.length, status === 304 ? 0 : list?.ids.length];
    if (`${[attempts, received]}` !== `${counts}`)
      fail(`run ${run_id}: attempts and leagues are ${[attempts, received]} instead of ${counts}`);
    judgeList(found, { outcome, status, list, before, accepted, removalLimit }, (text) =>
      fail(`run ${run_id} ${outcome}: ${text}`),
    );
    for (const id of found.live) if (world.leagues().some((one) => one.league_id === id)) accepted.delete(id);
    if (before.held.size === 0) heldAt = elapsed();
    if ([...found.held.keys()].some((id) => !before.held.has(id))) deliveries.noteHeld(elapsed());
    before = found;
  };
  const judgeDeliveries = (): void => {
    for (; judgedDeliveries < world.delivered.length; judgedDeliveries += 1)
      deliveries.judge(world.delivered[judgedDeliveries]);
  };
  /** While no message is in flight, all has been told (null: it held at the first start). */
  const judgeRest = (): void => {
    const [row] = rows(REST);
    const last = world.tries.at(-1);
    const isKnown =
      last !== undefined && last.at >= past.lifeBegan && last.status !== 410 && last.at < elapsed() - 20_000;
    const isSent = last?.status !== undefined && isSuccess(last.status);
    if (isKnown && !past.isDisturbed(last.at - HOUR_MS) && row?.failing !== Number(!isSent))
      fail(`failing is told as ${row?.failing} after status ${last.status}`);
    if (row?.message_id !== null || row.stopped_at !== null) return;
    if (row.refusals !== 0 || past.troubleAt > elapsed() - 300_000) return;
    // A message that was given up may still be under way.
    if ((world.tries.at(-1)?.at ?? Number.NEGATIVE_INFINITY) > elapsed() - 20_000) return;
    if (String(row.held ?? '') > String(row.announced_held_since ?? ''))
      fail(`what is held since ${row.held} is not told`);
    if (row.accepted_seq !== lastSeq()) fail(`told ${row.accepted_seq} of ${lastSeq()} changes, and nothing is sent`);
    const differs = (told: unknown, holds: boolean) =>
      (told ?? Number(holds)) !== Number(holds) || (told === null && !holds);
    const stale = isStale();
    if (stale !== undefined && differs(row.announced_stale, stale)) fail(`stale is told as ${row.announced_stale}`);
    if ((row.login === 'ok' || row.login === 'refused') && differs(row.announced_refused, row.login === 'refused'))
      fail(`refused is told as ${row.announced_refused}`);
  };
  /** Logins and failed polls that are too old are deleted within a day, or two after a step of the clock, if they can be. */
  const expectPruned = (at: string): void => {
    const since = elapsed() - 3 * DAY_MS;
    if (past.troubleAt > since || past.steps.some((time) => time > since)) return;
    const before = new Date(now() - currentRetentionMs - 2 * DAY_MS).toISOString();
    const [old = {}] = rows(tooOld(before), at);
    if (old.logins !== 0 || old.runs !== 0) fail(`kept for too long: ${JSON.stringify(old)}`);
  };
  const endLife = (): void => {
    awaited.clear();
    profileNext = Number.POSITIVE_INFINITY;
  };
  const judgeAwaited = (): void => {
    const isDoubtful = past.steps.some((time) => time <= past.lifeBegan) && past.mayBePaused(past.lifeBegan);
    for (const [what, until] of awaited) {
      const isBlocked =
        isDoubtful ||
        ((what === 'a poll after a pause' || what === 'a poll of the profile') &&
          (elapsed() - past.deniedAt < DENIAL_MS || pauseNow() !== undefined));
      const pauseEnds = Math.max(...world.requests.map(({ pauseUntil = 0 }) => pauseUntil));
      // The profile waits for a poll of the leagues, too.
      const afterPauseMs = (what === 'a poll of the profile' ? 2 : 1) * longestWaitMs;
      if (elapsed() > Math.max(until, pauseEnds + afterPauseMs) && !isBlocked) fail(`${what} did not come`);
    }
  };
  const isStale = (): boolean | undefined => {
    if (good === undefined || now() >= good.staleAt) return true;
    const { at, leftMs } = good;
    if (at >= past.lifeBegan && elapsed() >= at + leftMs) return true;
    return past.hasStepped(at) ? undefined : false;
  };
  /** Only what the last login of this life was told, unless the leagues were polled after it. */
  const isRefused = (): boolean | undefined => {
    const sent = world.requests.filter(({ at }) => at >= past.lifeBegan);
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
    isStaleInFile: past.steps.some((time) => good !== undefined && time >= good.startedAt) ? undefined : isStale(),
    live: before.live.size,
    failures,
    isRefused: isRefused(),
    isLoggedIn: isWell || undefined,
    isWritable: GOOD.includes(lastOutcome) && (good?.at ?? 0) > past.troubleAt,
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
      ({ schedule, profileSchedule, removalLimit, loginLeewayMs: leewayMs } = given);
      currentRetentionMs = given.runRetentionMs;
      retentionMs = Math.min(retentionMs, currentRetentionMs);
    },
    /** `isRefusing`: whether a table takes nothing; by default as before. */
    markTrouble: (isRefusing = past.troubleAt === Number.POSITIVE_INFINITY): void => {
      past.troubleAt = isRefusing ? Number.POSITIVE_INFINITY : elapsed();
    },
    /** From now on, the worker has a few minutes for this. */
    await: (what: 'a poll at its slot' | 'a poll that was asked for'): void => {
      // A slot within a second of a step of the clock may be missed.
      const isThere =
        what === 'a poll at its slot' && Math.max(lastLineAt, (past.steps.at(-1) ?? 0) + 1_000) >= elapsed();
      if (!isThere && !awaited.has(what)) awaited.set(what, elapsed() + longestWaitMs);
    },
    /** Looks whether the profile is due; called while a worker runs. */
    awaitProfile: (): void => {
      if (profileSchedule === 'off' || profileSchedule === undefined) return;
      if (now() >= profileNext && profileAt < profileNext)
        awaited.set('a poll of the profile', elapsed() + 2 * longestWaitMs);
      if (now() >= profileNext || profileNext === Number.POSITIVE_INFINITY)
        profileNext = profileSchedule.nextTime(now());
    },
    /** The worker was stopped, or the clock stepped. */
    endLife,
    kill: (): void => {
      endLife();
      judgeDeliveries();
      past.kills.push(elapsed());
      deliveries.kill(elapsed());
    },
    beginLife: (at: string): void => {
      path = at;
      before = readStored(rows(STATE)[0]);
      past.persons.push(elapsed());
      past.lifeBegan = elapsed();
      lastOutcome = '';
      failures = undefined;
      unsaved = 0;
      isUnsure = (rows(LAST_GOOD)[0]?.id ?? undefined) !== good?.runId;
      const isRecent = good !== undefined && elapsed() - good.at < 60_000;
      if (!isUnsure && !isRecent) awaited.set('a poll at the start', elapsed() + longestWaitMs);
    },
    backUp: (): void => {
      backup = { told, good };
    },
    restore: (at: string): void => {
      ({ told, good } = backup);
      past.restoredAt = elapsed();
      // What was accepted when the backup was made is accepted again, and nothing else is.
      accepted.clear();
      const held = rows('SELECT league_id FROM held_removals WHERE accepted_at IS NOT NULL', at);
      for (const { league_id } of held) accepted.add(String(league_id));
      requestsBefore = world.requests.length;
      past.persons.push(elapsed());
      // Like a step of the clock, it makes an earlier worker's Retry-After unknown.
      past.steps.push(elapsed());
      judgeDeliveries();
      deliveries.restore(rows('SELECT * FROM webhook', at)[0], elapsed());
      path = at;
    },
    markPerson: (): unknown => past.persons.push(elapsed()),
    markAsk: (): void => {
      asks = [...asks, elapsed()];
    },
    markStep: (): void => {
      past.steps.push(elapsed());
      latest = Math.max(latest, now());
    },
    /** A person has made refused credentials worth another try. */
    expectLogin: (isRunning: boolean): void => {
      if (isRunning && isRefused()) awaited.set('a login for a person', elapsed() + longestWaitMs);
    },
    markDenial: (): void => {
      past.deniedAt = elapsed();
    },
    accept: (ids: readonly string[]): void => {
      for (const id of ids) accepted.add(id);
    },
    moveWebhook: (seq: number): void => {
      past.movedAt = elapsed();
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
      if (line.kind === 'profile' && line.trigger !== undefined) {
        profileAt = now();
        awaited.delete('a poll of the profile');
      }
      if (line.not_before !== undefined && !past.mayBePaused(elapsed() - 1_000))
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
      noteDenial();
      judgeRequests();
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
      const runs = new Map<unknown, unknown>(JSON.parse(String(found.outcomes)));
      const seq = Number(found.seq);
      for (const { runId, outcome, lastSeq: reported, at: toldAt } of told) {
        const mayBeDeleted = toldAt - RUN_TIMEOUT_MS < latest - retentionMs && !runs.has(runId);
        if (runs.get(runId) !== outcome && !mayBeDeleted)
          fail(`run ${runId} was reported ${outcome} and is ${runs.get(runId)}`);
        if (seq < reported) fail(`change ${reported} was reported and is gone`);
      }
      const { changes, order, running, tries, unequal, broken, miscounted, orphans, logins } = found;
      const sent = world.requests.filter(
        ({ at: sentAt, endpoint }) => sentAt >= past.lifeBegan && endpoint === 'login',
      );
      const outcomes = sent
        .slice(-LOGINS_READ)
        .map(({ status }) => ({ 200: 'ok', 401: 'refused' })[Number(status)] ?? 'failed');
      const stored = JSON.parse(String(logins)).slice(-outcomes.length);
      if (isStopped && outcomes.length > 0 && past.troubleAt < past.lifeBegan && `${stored}` !== `${outcomes}`)
        fail(`the last logins are stored as ${stored}, but were ${outcomes}`);
      if (isStopped && Number(running) > 0 !== isEndUnsaved) fail(`${running} runs go on after a stop`);
      isEndUnsaved = false;
      const isOneEnded = (good?.at ?? 0) <= past.troubleAt || Number(running) <= 1 || unsaved > MOST_PENDING;
      if (changes || order || !isOneEnded) fail(`out of order: ${JSON.stringify({ changes, order, running })}`);
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
      const since = now() - PEACE_MS;
      const slot = profileSchedule === 'off' ? Number.POSITIVE_INFINITY : (profileSchedule?.nextTime(since) ?? 0);
      const [{ at: polledAt = '' } = {}] = rows(LAST_PROFILE, at);
      if (slot < now() - longestWaitMs && !(Date.parse(String(polledAt)) > since))
        fail(`the profile was polled last at ${polledAt}`);
      const attention = rows(TO_DO, at);
      if (attention.length > 0) fail(`attention: ${JSON.stringify(attention)}`);
      const [hook] = rows('SELECT accepted_seq, announced_stale, announced_refused FROM webhook', at);
      if (hook?.announced_stale !== 0 || hook?.announced_refused !== 0) fail(`told: ${JSON.stringify(hook)}`);
      if (hook?.accepted_seq !== lastSeq(at)) fail(`the webhook has ${hook?.accepted_seq} of ${lastSeq(at)}`);
    },
  };
}

const DAY_MS = 24 * HOUR_MS;
/** So long no fault has gone on in the end. */
const PEACE_MS = 3 * 3_600_000;
/** Between attempts at something that may pass, and for what a sleep of minutes may delay. */
const LONGEST_RETRY_MS = 10 * 60_000;
/** Faults with which a token or the password is refused. */
const DENIALS = ['login-refused', 'always-401', 'profile-forbidden', 'wrong-clock', 'born-expired'];
const RUN_TIMEOUT_MS = 120_000;
/** Kinds of failures that are tried again; a run that lasts this long may have no time for that. */
const PASSING = ['network', 'status', 'timeout'];
const LONG_RUN_MS = 60_000;
/** Of how many runs a worker keeps the end that it cannot store yet. */
const MOST_PENDING = 100;
const GOOD = ['changed', 'unchanged', 'held'];

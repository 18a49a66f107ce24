import type { Config } from '../../../src/config/config.ts';
import type { Row } from '../../support/database.ts';
import type { AwaitedJudge } from './awaited-judge.ts';
import { judgeList, readStored, type Stored } from './list-judge.ts';
import { isRejection, mayPass } from './past.ts';
import { LAST_GOOD, STATE } from './queries.ts';
import { DENIAL_MS, GOOD, HOUR_MS, MINUTE_MS, REQUEST_MS, RUN_TIMEOUT_MS, refusalWaitMs, type Scene } from './scene.ts';
import type { Request } from './service.ts';
import { createTriggerJudge } from './trigger-judge.ts';

/** The end of a poll of the leagues, as the log told it. */
export type Run = {
  readonly runId: number;
  readonly outcome: string;
  readonly trigger: unknown;
  /** Undefined after a success. */
  readonly errorKind: unknown;
  readonly startedAt: number;
  readonly attempts: unknown;
  readonly received: unknown;
};

/** `staleAt` by the wall clock. */
type Good = {
  readonly runId: number;
  readonly startedAt: number;
  readonly at: number;
  readonly leftMs: number;
  readonly staleAt: number;
};
/** `at` by the wall clock. */
type Told = Pick<Run, 'runId' | 'outcome'> & { readonly lastSeq: number; readonly at: number };

/** What is known of the polls of the leagues. */
export type Polls = {
  /** The good ones that the log told. */
  told: readonly Told[];
  good: Good | undefined;
  /** What the last good one has left. */
  stored: Stored;
  /** Those that failed since; undefined if not known. */
  failures: number | undefined;
  /** How the last one of this life ended. */
  lastOutcome: string | undefined;
  /** Whether one may have been stored that was not told. */
  isUnsure: boolean;
  /** When removals began to be held. */
  heldAt: number;
};

const MOST_ATTEMPTS = 4;
/** Kinds of failures that are tried again; a run that lasts this long may have no time for that. */
const PASSING = ['network', 'status', 'timeout'];
const LONG_RUN_MS = MINUTE_MS;
/** Faults with which a token or the password is refused. */
const DENIALS = ['login-refused', 'always-401', 'profile-forbidden', 'wrong-clock', 'born-expired'];

type Around = { readonly awaited: AwaitedJudge; readonly onMoreHeld: () => void };

/** Each poll of the leagues: its reason, its requests, its failure, and what it has stored. */
export function createPollJudge(scene: Scene, { awaited, onMoreHeld }: Around) {
  const { world, past, fail, note, elapsed, now, longestWaitMs, rows } = scene;
  const triggers = createTriggerJudge(scene);
  const polls: Polls = {
    told: [],
    good: undefined,
    stored: readStored(undefined),
    failures: undefined,
    lastOutcome: undefined,
    isUnsure: false,
    heldAt: 0,
  };
  /** What had been reported when the backup was made. */
  let backup: Pick<Polls, 'told' | 'good'> = { told: [], good: undefined };
  /** Ids of leagues whose removal was accepted. */
  const accepted = new Set<string>();
  let settings: Config | undefined;
  let requestsBefore = 0;
  let denials = { count: 0, endedAt: 0 };

  const noteDenial = (): void => {
    if (DENIALS.some((name) => world.switches.active().includes(name))) past.deniedAt = elapsed();
  };
  const judgeAttempts = ({ runId, errorKind }: Run, sent: readonly Request[]): void => {
    const failed = sent.filter(({ status = 503 }) => mayPass(status));
    if (failed.length > MOST_ATTEMPTS) fail(`run ${runId}: tried ${failed.length} times`);
    const redirected = sent.filter(({ status = 0 }) => status >= 300 && status < 400 && status !== 304);
    if (redirected.length > 1) fail(`run ${runId}: tried again after a redirect`);
    const isHasty = ({ status = 503, endedAt }: Request, next?: Request) =>
      mayPass(status) && next !== undefined && endedAt === next.at;
    if (sent.some((request, index) => isHasty(request, sent[index + 1]))) fail(`run ${runId}: tried again at once`);
    if (errorKind === 'credentials' && elapsed() - past.deniedAt > DENIAL_MS && sent.length > 0)
      fail(`run ${runId}: refused, although no fault refuses anything`);
  };
  /** A list to which even a new token gave no access is asked for after a minute, doubling to an hour. */
  const judgeDenial = ({ startedAt, errorKind }: Run, sent: readonly Request[]): void => {
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
  /** A failure is made up for after a pause, tried again if it may pass, and has met something. */
  const judgeFailure = ({ startedAt, trigger, errorKind }: Run): void => {
    const last = world.requests.findLast(({ endpoint }) => endpoint !== 'profile');
    // A catch-up is followed by another only if the pause was too long for its own retries.
    const least = trigger === 'catch-up' ? startedAt + RUN_TIMEOUT_MS : elapsed();
    if (last?.pauseUntil !== undefined && last.pauseUntil > least && last.endedAt === elapsed())
      awaited.awaitAfterPause(last.pauseUntil);
    const sent = world.requests.filter(({ endedAt = startedAt }) => endedAt >= startedAt);
    const isPassing = sent.every(({ status = 503, pauseUntil }) => mayPass(status) && pauseUntil === undefined);
    const mayRepeat = isPassing && sent.length > 0 && elapsed() - startedAt < LONG_RUN_MS;
    if (mayRepeat && sent.length < MOST_ATTEMPTS && PASSING.includes(String(errorKind)))
      fail(`gave up after ${sent.length} requests, though the failure might have passed`);
    if (sent.length > 0 || past.mayBePaused(startedAt) || errorKind === 'database') return;
    if (errorKind !== 'credentials') fail('a poll failed without a request');
    const rejected = world.requests.findLast((request) => request.at >= past.lifeBegan && isRejection(request));
    const blockedMs = elapsed() - Math.max(rejected?.endedAt ?? 0, ...past.persons);
    if (errorKind === 'credentials' && blockedMs > HOUR_MS + longestWaitMs)
      fail(`a poll was blocked ${blockedMs} ms after the last rejection`);
  };
  const judgeGood = (run: Run, sent: readonly Request[]): void => {
    const { runId, outcome, startedAt, attempts, received } = run;
    const before = polls.stored;
    const found = readStored(rows(STATE)[0]);
    // Its row may say when it began by a clock that has stepped since.
    const toldAt = past.hasStepped(startedAt) ? Number.NEGATIVE_INFINITY : now();
    polls.told = [...polls.told, { runId, outcome, lastSeq: found.seq, at: toldAt }];
    const staleAt = (settings?.schedule.nextTimes(3, now()).at(-1) ?? Number.NaN) + RUN_TIMEOUT_MS;
    polls.good = { runId, startedAt, at: elapsed(), leftMs: staleAt - now(), staleAt };
    polls.failures = 0;
    polls.isUnsure = false;
    const { status, list } = world.requests.findLast(({ endpoint }) => endpoint === 'leagues') ?? {};
    const counts = [sent.length, status === 304 ? 0 : list?.ids.length];
    if (`${[attempts, received]}` !== `${counts}`)
      fail(`run ${runId}: attempts and leagues are ${[attempts, received]} instead of ${counts}`);
    const { removalLimit = 0.2 } = settings ?? {};
    judgeList(found, { outcome, status, list, before, accepted, removalLimit }, (text) =>
      fail(`run ${runId} ${outcome}: ${text}`),
    );
    for (const id of found.live) if (world.leagues().some((one) => one.league_id === id)) accepted.delete(id);
    if (before.held.size === 0) polls.heldAt = elapsed();
    if ([...found.held.keys()].some((id) => !before.held.has(id))) onMoreHeld();
    polls.stored = found;
  };
  const judge = (run: Run): void => {
    // Not what an earlier worker had in flight when it was killed.
    const lastLife = world.requests.at(-1)?.life;
    const sent = world.requests
      .slice(requestsBefore)
      .filter(({ endpoint, life }) => endpoint === 'leagues' && life === lastLife);
    requestsBefore = world.requests.length;
    note(`run ${run.runId} ${run.outcome} (${run.trigger})`);
    noteDenial();
    judgeAttempts(run, sent);
    triggers.judge(run, polls.lastOutcome === undefined);
    judgeDenial(run, sent);
    awaited.noteRun();
    polls.lastOutcome = run.outcome;
    if (run.outcome === 'failed') {
      judgeFailure(run);
      const isStored = run.errorKind !== 'database' && past.troubleAt < run.startedAt;
      polls.failures = isStored && polls.failures !== undefined ? polls.failures + 1 : undefined;
    }
    if (GOOD.includes(run.outcome)) judgeGood(run, sent);
  };
  return {
    polls,
    triggers,
    noteDenial,
    setSettings: (given: Config): void => {
      settings = given;
      triggers.setSettings(given);
    },
    beginLife: (): void => {
      const lastGood = rows(LAST_GOOD)[0]?.id ?? undefined;
      polls.isUnsure = lastGood !== polls.good?.runId;
      polls.stored = readStored(rows(STATE)[0]);
      polls.lastOutcome = undefined;
      polls.failures = undefined;
    },
    accept: (ids: readonly string[]): void => {
      for (const id of ids) accepted.add(id);
    },
    backUp: (): void => {
      backup = { told: polls.told, good: polls.good };
    },
    restore: (path: string): void => {
      polls.told = backup.told;
      polls.good = backup.good;
      // What was accepted when the backup was made is accepted again, and nothing else is.
      accepted.clear();
      const held = rows('SELECT league_id FROM held_removals WHERE accepted_at IS NOT NULL', path);
      for (const { league_id } of held) accepted.add(String(league_id));
      requestsBefore = world.requests.length;
    },
    /** Reads a line of the worker's log. */
    read: (line: Row): void => {
      const { kind, run_id, outcome, trigger, error_kind: errorKind, duration_ms, attempts, received } = line;
      if (String(line.msg).includes('could not be written')) polls.failures = undefined;
      if (kind === 'profile' && duration_ms !== undefined) triggers.judgeProfile(line);
      if (kind !== 'leagues' || run_id === undefined || outcome === undefined || duration_ms === undefined) return;
      const startedAt = elapsed() - Number(duration_ms);
      judge({ runId: Number(run_id), outcome: String(outcome), trigger, errorKind, startedAt, attempts, received });
    },
  };
}

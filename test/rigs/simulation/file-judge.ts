import { existsSync, readFileSync } from 'node:fs';
import type { Config } from '../../../src/config/config.ts';
import type { Polls } from './poll-judge.ts';
import { LAST_ENDED, LAST_PROFILE, LIVE, LOGINS_READ, TO_DO, tooOld, WHOLE } from './queries.ts';
import { DAY_MS, HOUR_MS, RUN_TIMEOUT_MS, type Scene } from './scene.ts';

/** So long no fault has gone on in the end. */
const PEACE_MS = 3 * HOUR_MS;
const OUTCOMES: Readonly<Record<string, string>> = { 200: 'ok', 401: 'refused' };

/** Everything that must hold in the file of the database, after a stop or a kill, and in the end. */
export function createFileJudge({ world, past, fail, elapsed, now, longestWaitMs, rows }: Scene, polls: Polls) {
  let profileSchedule: Config['profileSchedule'] = 'off';
  let retentionMs = Number.POSITIVE_INFINITY;
  /** The shortest of any life: what it has deleted does not come back. */
  let leastRetentionMs = retentionMs;
  /** The latest that the wall clock has shown while old rows could be deleted. */
  let latest = Number.NEGATIVE_INFINITY;
  let seenAt = 0;
  /** When the wall clock last jumped so far that nothing is deleted for a day, by the worker that saw it. */
  let jumpedAt = Number.NEGATIVE_INFINITY;
  /** Whether the worker said at its stop that the end of a run could not be written. */
  let isEndUnsaved = false;
  let searchedSecrets = 0;

  const judgeSecrets = (path: string): void => {
    const files = ['', '-wal'].map((suffix) => path + suffix).filter((file) => existsSync(file));
    const bytes = files.map((file) => readFileSync(file));
    for (const secret of [...world.secrets].slice(searchedSecrets))
      if (bytes.some((content) => content.includes(secret))) fail('the database has a secret');
    searchedSecrets = world.secrets.size;
  };
  const noteTime = (): void => {
    seenAt = now();
    if (past.lifeBegan > jumpedAt || elapsed() - jumpedAt > DAY_MS) latest = Math.max(latest, seenAt);
  };
  const judgeTold = (stored: ReadonlyMap<unknown, unknown>, seq: number): void => {
    noteTime();
    for (const { runId, outcome, lastSeq, at } of polls.told) {
      const mayBeDeleted = at - RUN_TIMEOUT_MS < latest - leastRetentionMs && !stored.has(runId);
      if (stored.get(runId) !== outcome && !mayBeDeleted)
        fail(`run ${runId} was reported ${outcome} and is ${stored.get(runId)}`);
      if (seq < lastSeq) fail(`change ${lastSeq} was reported and is gone`);
    }
  };
  const judgeLogins = (stored: readonly unknown[]): void => {
    const sent = world.requests.filter(({ at, endpoint }) => at >= past.lifeBegan && endpoint === 'login');
    const outcomes = sent.slice(-LOGINS_READ).map(({ status }) => OUTCOMES[String(status)] ?? 'failed');
    const last = stored.slice(Math.max(0, stored.length - outcomes.length));
    if (past.troubleAt < past.lifeBegan && `${last}` !== `${outcomes}`)
      fail(`the last logins are stored as ${last}, but were ${outcomes}`);
  };
  /** Logins and failed polls that are too old are deleted within a day, or two after a step of the clock, if they can be. */
  const expectPruned = (path: string): void => {
    const since = elapsed() - 3 * DAY_MS;
    if (past.troubleAt > since || past.hasStepped(since)) return;
    const before = new Date(now() - retentionMs - 2 * DAY_MS).toISOString();
    const [old = {}] = rows(tooOld(before), path);
    if (old.logins !== 0 || old.runs !== 0) fail(`kept for too long: ${JSON.stringify(old)}`);
  };
  const expectPolled = (path: string): void => {
    const [last] = rows(LAST_ENDED, path);
    if (!['changed', 'unchanged'].includes(String(last?.outcome))) fail(`the last poll is ${JSON.stringify(last)}`);
    const stored = new Set(rows(LIVE, path).map(({ league_id }) => String(league_id)));
    const listed = new Set(world.leagues().map(({ league_id }) => String(league_id)));
    if (stored.symmetricDifference(listed).size > 0) fail('the leagues are not those of the service');
    const since = now() - PEACE_MS;
    const slot = profileSchedule === 'off' ? Number.POSITIVE_INFINITY : profileSchedule.nextTime(since);
    const [{ at: polledAt = '' } = {}] = rows(LAST_PROFILE, path);
    if (slot < now() - longestWaitMs && !(Date.parse(String(polledAt)) > since))
      fail(`the profile was polled last at ${polledAt}`);
  };
  return {
    setSettings: (given: Config): void => {
      ({ profileSchedule, runRetentionMs: retentionMs } = given);
      leastRetentionMs = Math.min(leastRetentionMs, retentionMs);
    },
    noteTime,
    /** The wall clock was set. */
    noteStep: (): void => {
      if (now() - seenAt > retentionMs) jumpedAt = elapsed();
    },
    noteEndUnsaved: (): void => {
      isEndUnsaved = true;
    },
    /** While a worker runs. */
    lookAtRuns: (lastSeq: number): void =>
      judgeTold(new Map(rows('SELECT id, outcome FROM runs').map(({ id, outcome }) => [id, outcome])), lastSeq),
    /** After a stop or a kill. */
    look: (path: string, isStopped: boolean): void => {
      if (!existsSync(path)) return;
      judgeSecrets(path);
      const [found = {}] = rows(WHOLE, path);
      const { changes, order, running, tries, unequal, broken, miscounted, orphans } = found;
      judgeTold(new Map(JSON.parse(String(found.outcomes))), Number(found.seq));
      if (isStopped) judgeLogins(JSON.parse(String(found.logins)));
      if (isStopped && Number(running) > 0 !== isEndUnsaved) fail(`${running} runs go on after a stop`);
      isEndUnsaved = false;
      const isOneEnded = (polls.good?.at ?? 0) <= past.troubleAt || Number(running) <= 1;
      if (changes || order || !isOneEnded) fail(`out of order: ${JSON.stringify({ changes, order, running })}`);
      if (tries !== null) fail(`run ${tries} was tried more than six times`);
      if (miscounted !== null) fail(`the counts of run ${miscounted} are not those of its changes`);
      if (orphans !== 0) fail(`${orphans} rows name runs that are gone`);
      if (broken !== null) fail(`change ${broken} does not follow the one before it`);
      if (unequal !== null) fail(`the feed does not give the table: ${unequal}`);
    },
    /** Faults have ended long ago. */
    expectWell: (path: string, lastSeq: number): void => {
      expectPolled(path);
      expectPruned(path);
      const attention = rows(TO_DO, path);
      if (attention.length > 0) fail(`attention: ${JSON.stringify(attention)}`);
      const [hook] = rows('SELECT accepted_seq, announced_stale, announced_refused FROM webhook', path);
      if (hook?.announced_stale !== 0 || hook?.announced_refused !== 0) fail(`told: ${JSON.stringify(hook)}`);
      if (hook?.accepted_seq !== lastSeq) fail(`the webhook has ${hook?.accepted_seq} of ${lastSeq}`);
    },
  };
}

import type { Config } from '../../../src/config/config.ts';
import { isSuccess } from '../../../src/http/response.ts';
import type { createApp } from '../../../src/observe/routes.ts';
import type { Row } from '../../support/database.ts';
import { createAwaitedJudge } from './awaited-judge.ts';
import { createDeliveryJudge } from './delivery-judge.ts';
import { createFileJudge } from './file-judge.ts';
import { createPast } from './past.ts';
import { createPollJudge } from './poll-judge.ts';
import { feed, REST } from './queries.ts';
import type { Reader } from './reader.ts';
import { createRequestJudge } from './request-judge.ts';
import { GOOD, HOUR_MS, MINUTE_MS, type Scene } from './scene.ts';
import type { World } from './service.ts';
import { judgeState, type Known } from './state-judge.ts';

type App = ReturnType<typeof createApp>;
type Around = Pick<Scene, 'slackMs' | 'elapsed' | 'now' | 'note'> & { readonly reader: Reader };

/** Between attempts at something that may pass, and for what a sleep of minutes may delay. */
const LONGEST_RETRY_MS = 10 * MINUTE_MS;
/** How long an attempt at a message may be under way, or its end unknown. */
const ATTEMPT_MS = 20_000;
/** How long after trouble with the database a state may be untold. */
const TROUBLE_MS = 5 * MINUTE_MS;
/** So soon after a good poll, a start causes no other. */
const RECENT_MS = MINUTE_MS;

/** What holds at all times. Remembers the first thing that does not. */
export function createJudge(world: World, { slackMs, elapsed, now, note, reader }: Around) {
  const longestWaitMs = slackMs + LONGEST_RETRY_MS;
  const past = createPast(world);
  let failure: string | undefined;
  let path = '';
  let leewayMs = 0;
  /** Whether faults have ended long ago. */
  let isWell = false;
  let judgedDeliveries = 0;
  const fail = (text: string): void => {
    failure ??= text;
    note(`FAILED: ${text}`);
  };
  const rows = (sql: string, at = path): readonly Row[] => reader.rows(at, sql);
  const lastSeq = (at = path): number => Number(rows('SELECT max(seq) AS seq FROM league_changes', at)[0]?.seq ?? 0);
  const scene: Scene = { world, past, elapsed, now, note, fail, rows, slackMs, longestWaitMs };
  const awaited = createAwaitedJudge(scene);
  const pollJudge = createPollJudge(scene, { awaited, onMoreHeld: () => deliveries.noteHeld(elapsed()) });
  const { polls, triggers } = pollJudge;
  const files = createFileJudge(scene, polls);
  const requests = createRequestJudge(scene, {
    leewayMs: () => leewayMs,
    isHolding: (at) => polls.stored.held.size > 0 && at > polls.heldAt,
    onLogin: awaited.noteLogin,
  });
  const deliveries = createDeliveryJudge(fail, {
    hasData: () => polls.told.length > 0,
    hasStepped: () => past.steps.length > 0,
    isRefusalUntold: requests.isRefusalUntold,
    isStillRefused: requests.isStillRefused,
    isStaleUntold: (at) => {
      const { good } = polls;
      if (good === undefined || past.hasStepped(good.at) || past.hadPerson(good.at)) return false;
      return at > good.at + good.leftMs + longestWaitMs;
    },
    feed: (from, to) => JSON.stringify(rows(feed(from, to)).map(({ change }) => JSON.parse(String(change)))),
    triedAt: (id) => world.tries.find((one) => one.id === id)?.at ?? elapsed(),
  });

  const isStale = (): boolean | undefined => {
    const { good } = polls;
    if (good === undefined || now() >= good.staleAt) return true;
    if (good.at >= past.lifeBegan && elapsed() >= good.at + good.leftMs) return true;
    return past.hasStepped(good.at) ? undefined : false;
  };
  const isLastGood = (): boolean => polls.lastOutcome !== undefined && GOOD.includes(polls.lastOutcome);
  /** Only what the last login of this life was told, unless the leagues were polled after it. */
  const isRefused = (): boolean | undefined => {
    const sent = world.requests.filter(({ at }) => at >= past.lifeBegan);
    const login = sent.findLast(({ endpoint }) => endpoint === 'login');
    if (login?.status === 401 && login === sent.at(-1)) return true;
    return isLastGood() && login?.status === 200 && sent.at(-1)?.endpoint !== 'profile' ? false : undefined;
  };
  const known = (): Known => ({
    good: polls.good,
    isStale: isStale(),
    // The view compares the clock with the start of that poll.
    isStaleInFile: polls.good !== undefined && past.hasStepped(polls.good.startedAt) ? undefined : isStale(),
    live: polls.stored.live.size,
    failures: polls.failures,
    isRefused: isRefused(),
    isLoggedIn: isWell || undefined,
    isWritable: isLastGood() && (polls.good?.at ?? 0) > past.troubleAt,
  });
  const judgeDeliveries = (): void => {
    for (; judgedDeliveries < world.delivered.length; judgedDeliveries += 1)
      deliveries.judge(world.delivered[judgedDeliveries]);
  };
  /** While no message is in flight, all has been told (null: it held at the first start). */
  const judgeRest = (): void => {
    const [row] = rows(REST);
    const last = world.tries.at(-1);
    const isKnown =
      last !== undefined && last.at >= past.lifeBegan && last.status !== 410 && last.at < elapsed() - ATTEMPT_MS;
    const isSent = last?.status !== undefined && isSuccess(last.status);
    // A state that has changed back is no longer sent.
    const isDropped = !isSent && row?.message_id !== last?.id;
    if (isKnown && !isDropped && !past.isDisturbed(last.at - HOUR_MS) && row?.failing !== Number(!isSent))
      fail(`failing is told as ${row?.failing} after status ${last.status}`);
    if (row?.message_id !== null || row.stopped_at !== null) return;
    if (row.refusals !== 0 || past.troubleAt > elapsed() - TROUBLE_MS) return;
    // A message that was given up may still be under way.
    if ((last?.at ?? Number.NEGATIVE_INFINITY) > elapsed() - ATTEMPT_MS) return;
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
  return {
    fail,
    lastSeq,
    look: files.look,
    accept: pollJudge.accept,
    backUp: pollJudge.backUp,
    markAsk: triggers.markAsk,
    await: (what: 'slot' | 'request'): void => awaited.await(what),
    awaitProfile: awaited.awaitProfile,
    /** The worker was stopped, or the clock stepped. */
    endLife: awaited.endLife,
    judgeState: async (app: App, said: Set<string>): Promise<void> => {
      if (polls.isUnsure) return;
      for (const text of await judgeState({ app, said, rows }, known())) fail(text);
      judgeRest();
      files.lookAtRuns(lastSeq());
    },
    setSettings: (given: Config): void => {
      leewayMs = given.loginLeewayMs;
      for (const judge of [awaited, pollJudge, files]) judge.setSettings(given);
    },
    /** `isRefusing`: whether a table takes nothing; by default as before. */
    markTrouble: (isRefusing = past.troubleAt === Number.POSITIVE_INFINITY): void => {
      past.troubleAt = isRefusing ? Number.POSITIVE_INFINITY : elapsed();
    },
    kill: (): void => {
      awaited.endLife();
      judgeDeliveries();
      past.kills.push(elapsed());
      deliveries.kill(elapsed());
    },
    beginLife: (at: string): void => {
      path = at;
      past.persons.push(elapsed());
      past.lifeBegan = elapsed();
      pollJudge.beginLife();
      const isRecent = polls.good !== undefined && elapsed() - polls.good.at < RECENT_MS;
      if (!polls.isUnsure && !isRecent) awaited.await('start');
    },
    restore: (at: string): void => {
      pollJudge.restore(at);
      past.restoredAt = elapsed();
      past.persons.push(elapsed());
      // Like a step of the clock, it makes an earlier worker's Retry-After unknown.
      past.steps.push(elapsed());
      judgeDeliveries();
      deliveries.restore(rows('SELECT * FROM webhook', at)[0], elapsed());
      path = at;
    },
    markPerson: (): unknown => past.persons.push(elapsed()),
    markStep: (): void => {
      past.steps.push(elapsed());
      files.noteStep();
    },
    /** A person has made refused credentials worth another try. */
    expectLogin: (isRunning: boolean): void => {
      if (isRunning && isRefused()) awaited.await('login');
    },
    markDenial: (): void => {
      past.deniedAt = elapsed();
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
      if (/the end of .* could not be written/.test(String(line.msg))) files.noteEndUnsaved();
      awaited.read(line);
      pollJudge.read(line);
    },
    throwIfFailed: (): void => {
      files.noteTime();
      pollJudge.noteDenial();
      requests.judge();
      awaited.judge();
      judgeDeliveries();
      if (failure !== undefined) throw new Error(failure);
    },
    /** Faults have ended long ago. */
    expectWell: (at: string, copiedSeq: number): void => {
      isWell = true;
      if (copiedSeq !== lastSeq(at)) fail(`the copy has ${copiedSeq} of ${lastSeq(at)}`);
      deliveries.expectEnded();
      files.expectWell(at, lastSeq(at));
    },
  };
}

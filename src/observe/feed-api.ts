import type { Listener } from '../events.ts';
import { changeJson, lastSeq, readBatch, timeOfChange } from '../store/queries/feed.ts';
import { formatTimestamp } from '../time/clock.ts';
import { parseDuration } from '../time/duration.ts';
import { PARAMETERS, ParameterError, withParameters } from './parameters.ts';
import { type Handler, jsonResponse, jsonTextResponse } from './server.ts';
import type { Monitor } from './worker-state.ts';

/** Less than most proxies wait for an answer. */
const LONGEST_WAIT_MS = 50_000;
/** More readers than this cannot wait at once. */
const MOST_WAITING = 100;
/** More than a thousand usual changes. A page of huge ones ends sooner, since reading it delays polls and probes. */
export const MAX_PAGE_CHARS = 1_000_000;
/** All readers that wait are answered at once, and each answer takes memory. */
const MAX_AWAITED_CHARS = MAX_PAGE_CHARS / 10;

/** Work of which one is done at a time. */
export type Turns = {
  readonly take: <T>(work: () => T | Promise<T>) => Promise<T>;
  /** Requests that take a turn each, but not too many at once. */
  readonly enqueue: (handler: Handler) => Handler;
};

/** The feed for programs without SQL, which can wait for its next change. `stop`: of the worker, which ends all waits. */
export function createFeedApi({ read, provenance }: Monitor, turns: Turns, stop: AbortSignal) {
  const sleeping = new Set<() => void>();
  const wakeAll = (): void => {
    for (const wake of sleeping) wake();
  };
  stop.addEventListener('abort', wakeAll, { once: true });
  const onEvent: Listener = (event) => {
    if (event.type === 'runEnded' && event.report.wrote) wakeAll();
  };
  /** Until a poll has written something, for `ms`, or until the reader has gone or the worker stops: then to false. */
  const sleep = async (ms: number, gone: AbortSignal): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    sleeping.add(resolve);
    gone.addEventListener('abort', () => resolve(), { once: true });
    if (!gone.aborted && !stop.aborted) await promise;
    clearTimeout(timer);
    sleeping.delete(resolve);
    return !gone.aborted && !stop.aborted;
  };
  const look = (since: number, at: string | undefined, limit: number, maxChars = MAX_PAGE_CHARS) => {
    const { last, isKnown, entries, more } = read((db) => {
      const last = lastSeq(db);
      const isKnown = since <= last && (at === undefined || timeOfChange(db, since) === at);
      return { last, isKnown, ...readBatch(db, { after: since, last }, { limit, maxChars }) };
    });
    if (!isKnown) return { isNews: true, response: jsonResponse({ last_seq: last, ...provenance() }, 409) };
    const others = { next: entries.at(-1)?.seq ?? since, more, ...provenance() };
    const response = jsonTextResponse(`"changes":[${entries.map(changeJson).join()}]`, others);
    return { isNews: entries.length > 0, response };
  };
  /** A change wakes all that wait: those that ask the same share an answer. */
  const shared = new Map<string, Promise<ReturnType<typeof look>>>();
  const lookTogether = (since: number, at: string | undefined, limit: number) => {
    const asked = [since, at, limit].join();
    const answer =
      shared.get(asked) ??
      turns.take(() => {
        // Who asks from now on may know of a later change.
        shared.delete(asked);
        return look(since, at, limit, MAX_AWAITED_CHARS);
      });
    shared.set(asked, answer);
    return answer;
  };

  let waiting = 0;
  const handle = withParameters(PARAMETERS['/changes.json'], async (values, request) => {
    const { since, limit } = values;
    const [at, wait] = [readInstant(values.at), readWait(values.wait)];
    if (wait === 0) return turns.enqueue(() => look(since, at, limit).response)(request);
    const until = performance.now() + wait;
    let answer = await lookTogether(since, at, limit);
    if (answer.isNews) return answer.response;
    if (waiting >= MOST_WAITING)
      return jsonResponse({ error: 'too many readers wait: ask again without wait' }, 503, { 'Retry-After': '1' });
    request.hold(wait);
    waiting += 1;
    try {
      for (;;) {
        const leftMs = until - performance.now();
        if (answer.isNews || leftMs <= 0 || !(await sleep(leftMs, request.gone))) return answer.response;
        answer = await lookTogether(since, at, limit);
      }
    } finally {
      waiting -= 1;
    }
  });
  return { handle, onEvent };
}

/** In the form of the feed's `at`. */
function readInstant(text: string | undefined): string | undefined {
  const ms = Date.parse(text ?? '');
  if (text === undefined || (!Number.isNaN(ms) && formatTimestamp(ms) === text)) return text;
  throw new ParameterError('at must be the at of a change, such as 2026-11-20T12:00:00.000Z');
}

/** How long to wait for a change, in ms. */
function readWait(text = '0s'): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms <= LONGEST_WAIT_MS) return ms;
  throw new ParameterError('wait must be a duration such as 25s, at most 50s');
}

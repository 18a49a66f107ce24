import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Listener } from '../sync/events.ts';
import type { RunReport } from '../sync/report.ts';
import type { Message, Ping } from './ping.ts';

/**
 * Tells a monitoring service when a run of the leagues begins and how it ends, without ever making a run wait. Disposing
 * gives what is under way a moment more.
 */
export type Heartbeat = AsyncDisposable & {
  readonly note: Listener;
};

export type HeartbeatOptions = {
  readonly ping: Ping;
  /** Who is told, for the log: the rest of the address is a secret. */
  readonly host: string;
  readonly clock: Clock;
  readonly log: Log;
};

/** A name that cannot be resolved for a moment, and a monitoring service that is being restarted. */
const WAITS_MS = [1_000, 4_000, 16_000];
const GRACE_MS = 1_000;
/** Far more than any reason that is worth reading. */
const LONGEST_TEXT_BYTES = 10_000;

/** One run, as far as the monitoring service is to hear of it. */
type Round = {
  readonly runId: string;
  /** Undefined where nothing is to be said of it: it was interrupted. */
  readonly ended: Promise<End | undefined>;
  readonly isEnded: () => boolean;
  readonly end: (end: End | undefined) => void;
  /** Aborts when there is something newer to say, or no time left. */
  readonly late: AbortController;
};
type End = Omit<Message, 'runId'>;

export function createHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { clock } = options;
  const cut = new AbortController();
  const say = createSaying(options, cut.signal);
  /** Of the run that was begun last. */
  let latest: Round | undefined;
  /** What is being said, and what will be next: whatever else came meanwhile is out of date. */
  let current: Round | undefined;
  let next: Round | undefined;
  let working: Promise<void> = Promise.resolve();

  const deliver = async ({ runId, ended, isEnded, late }: Round): Promise<void> => {
    // A start that is told after the end would only make the run look short.
    if (!isEnded()) await say({ kind: 'start', runId }, late.signal);
    const end = await ended;
    if (end !== undefined) await say({ ...end, runId }, late.signal);
  };
  const work = async (): Promise<void> => {
    for (;;) {
      current = next;
      next = undefined;
      if (current === undefined) return;
      await deliver(current);
    }
  };
  return {
    note: (event) => {
      if (event.type === 'runEnded' && event.report.kind === 'leagues') latest?.end(endOf(event.report));
      if (event.type !== 'runStarted' || event.kind !== 'leagues') return;
      // A run that failed in an unforeseen way may have left without a word.
      latest?.end(undefined);
      current?.late.abort();
      latest = next = openRound();
      if (current === undefined) working = work();
    },
    [Symbol.asyncDispose]: async () => {
      latest?.end(undefined);
      current?.late.abort();
      next?.late.abort();
      const over = new AbortController();
      await Promise.race([working, clock.sleep(GRACE_MS, over.signal).catch(() => undefined)]);
      over.abort();
      next = undefined;
      cut.abort();
      await working;
    },
  };
}

function openRound(): Round {
  const { promise: ended, resolve } = Promise.withResolvers<End | undefined>();
  let isEnded = false;
  return {
    runId: randomUUID(),
    ended,
    isEnded: () => isEnded,
    end: (end) => {
      isEnded = true;
      resolve(end);
    },
    late: new AbortController(),
  };
}

/** A run whose removals are held is a good one in every other respect. */
function endOf({ outcome, error }: RunReport): End | undefined {
  if (outcome === 'interrupted') return undefined;
  if (outcome !== 'failed') return { kind: 'success' };
  return { kind: 'fail', text: shorten(error === undefined ? 'failed' : `${error.kind}: ${error.message}`) };
}

function shorten(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= LONGEST_TEXT_BYTES) return text;
  // A character that is cut in two is left out.
  return new TextDecoder().decode(bytes.subarray(0, LONGEST_TEXT_BYTES), { stream: true });
}

type Saying = (message: Message, late: AbortSignal) => Promise<void>;

/** Tries a few times, or once where it is late; what does not get through is logged once, until something does. */
function createSaying({ ping, host, clock, log }: HeartbeatOptions, cut: AbortSignal): Saying {
  let failing = false;
  return async (message, late) => {
    for (const waitMs of [...WAITS_MS, undefined]) {
      const fault = cut.aborted ? undefined : await ping(message, cut);
      if (cut.aborted) return;
      if (fault === undefined) {
        if (failing) log.info({ host }, `the heartbeat gets through to ${host} again`);
        failing = false;
        return;
      }
      if (!fault.passes || waitMs === undefined || late.aborted) {
        if (!failing) log.warn({ host }, `the heartbeat does not get through to ${host} (${fault.what})`);
        failing = true;
        return;
      }
      await clock.sleep(waitMs, late).catch(() => undefined);
    }
  };
}

import { setFlagsFromString } from 'node:v8';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { JsonText } from '../record.ts';
import type { Found, ParseOptions } from '../service/league.ts';
import type { Elements } from '../service/listing.ts';
import type { ColumnValue } from '../store/columns.ts';
import { type Assignment, type Message, READER_URL, SENT, TAKEN, VALUES_EACH } from './reader-thread.ts';

/** A league as a thread has read it. */
export type ReadLeague = {
  /** The values of its columns, in their order. */
  readonly columns: readonly ColumnValue[];
  readonly hash: string;
  readonly json: JsonText;
};

/**
 * The thread should be ahead. While it is waited for nothing else is done here, not even a signal is heard, so that a
 * list that takes long to read is better read elsewhere.
 */
const LONGEST_WAIT_MS = 2_000;

/** A thread that reads a list, a little ahead of whoever writes it. Where none can be had, nothing comes of it. */
export type ReadAhead = Disposable & {
  /** Starts the thread, so that it is there by the time it is wanted, which takes a tenth of a second. */
  readonly start: () => void;
  /**
   * Reads a list; `use` is given the leagues in batches, as they come. The caller's thread does nothing else meanwhile.
   * Undefined where the list cannot be read to its end in this way, or time is up. Throws what `use` throws. Called once.
   */
  readonly read: (
    elements: Elements,
    options: Pick<ParseOptions, 'programVersion'> & { readonly isTimeUp: () => boolean },
    use: (leagues: readonly ReadLeague[]) => void,
  ) => Found | undefined;
};

/** `longestWaitMs` is how long the thread is waited for, in all. */
export function createReadAhead({ longestWaitMs = LONGEST_WAIT_MS } = {}): ReadAhead {
  let thread: Worker | undefined;
  const start = (): void => {
    thread ??= startThread();
  };
  return {
    start,
    read: (elements, { programVersion, isTimeUp }, use) => {
      start();
      using messages = assign(thread, elements, { programVersion, longestWaitMs });
      while (messages !== undefined && !isTimeUp()) {
        const message = messages.next();
        if (message?.kind === 'end') return message.found;
        if (message?.kind !== 'leagues') return undefined;
        use(leaguesOf(message.values));
      }
      return undefined;
    },
    [Symbol.dispose]: () => {
      void thread?.terminate();
    },
  };
}

/** As which the system shows the thread; it cuts off what is longer than 15 characters. */
export const READER_NAME = 'league-reader';

/** Undefined where the system or Node allows none. */
function startThread(): Worker | undefined {
  // Told to V8 as a whole, and heeded only where a thread begins: with the usual megabyte for what is young, this one
  // would collect garbage for a fifth of its time.
  setFlagsFromString('--min-semi-space-size=16');
  try {
    // The environment would be a copy of ours, with the password in it.
    const thread = new Worker(new URL(READER_URL), { name: READER_NAME, env: {} });
    // One that has come to grief says nothing more, and is not waited for.
    thread.on('error', () => undefined);
    thread.unref();
    return thread;
  } catch {
    return undefined;
  }
}

/** What the thread says; undefined where it has said nothing for long. */
type Messages = Disposable & { readonly next: () => Message | undefined };

/** Undefined where there is no thread, or no memory to share with it. */
function assign(
  thread: Worker | undefined,
  elements: Elements,
  { programVersion, longestWaitMs }: { readonly programVersion: string; readonly longestWaitMs: number },
): Messages | undefined {
  if (thread === undefined) return undefined;
  try {
    const { port1: ours, port2: port } = new MessageChannel();
    const flow = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    const assignment: Assignment = { list: elements.share(), programVersion, port, flow };
    thread.postMessage(assignment, [port]);
    return receive(ours, flow, longestWaitMs);
  } catch {
    return undefined;
  }
}

/** A process that was stopped for a while has not waited. */
const WAIT_AT_A_TIME_MS = 100;

function receive(port: MessagePort, flow: Int32Array<SharedArrayBuffer>, longestWaitMs: number): Messages {
  let waitedMs = 0;
  const next = (): Message | undefined => {
    while (waitedMs < longestWaitMs) {
      const sent = Atomics.load(flow, SENT);
      const received = receiveMessageOnPort(port);
      if (received !== undefined) {
        Atomics.add(flow, TAKEN, 1);
        Atomics.notify(flow, TAKEN);
        return received.message;
      }
      const began = performance.now();
      Atomics.wait(flow, SENT, sent, WAIT_AT_A_TIME_MS);
      waitedMs += Math.min(performance.now() - began, WAIT_AT_A_TIME_MS);
    }
    return undefined;
  };
  return { next, [Symbol.dispose]: () => port.close() };
}

function leaguesOf(values: readonly ColumnValue[]): readonly ReadLeague[] {
  const leagues: ReadLeague[] = [];
  for (let end = VALUES_EACH; end <= values.length; end += VALUES_EACH) {
    const columns = values.slice(end - VALUES_EACH, end - 2);
    leagues.push({ columns, hash: String(values[end - 2]), json: String(values[end - 1]) });
  }
  return leagues;
}

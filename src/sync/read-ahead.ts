import { setFlagsFromString } from 'node:v8';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { JsonText } from '../record.ts';
import type { Found, ParseOptions } from '../service/league.ts';
import type { Elements, Listing } from '../service/listing.ts';
import type { ColumnValue } from '../store/columns.ts';
import { type Assignment, type Message, READER_URL, SENT, TAKEN, VALUES_EACH } from './reader-thread.ts';

/** A league as a thread has read it. */
export type ReadLeague = {
  /** The values of its columns, in their order. */
  readonly columns: readonly ColumnValue[];
  readonly hash: string;
  readonly json: JsonText;
};

/** A thread that reads a list, a little ahead of whoever writes it. */
export type ReadAhead = Disposable & {
  /** Starts the thread, so that it is there by the time it is wanted, which takes a tenth of a second. */
  readonly start: () => void;
  /**
   * Reads a list; `use` is given the leagues in batches, as they come. The caller's thread does nothing else meanwhile.
   * Undefined where the list cannot be read to its end, for whatever reason. Called once.
   */
  readonly read: (
    listing: Listing & { readonly elements: Elements },
    reader: ParseOptions['reader'],
    use: (leagues: readonly ReadLeague[]) => void,
  ) => Found | undefined;
};

export function createReadAhead(): ReadAhead {
  let thread: Worker | undefined;
  const start = (): Worker => {
    thread ??= startThread();
    return thread;
  };
  return {
    start,
    read: ({ body, elements }, reader, use) => {
      const { port1: ours, port2: port } = new MessageChannel();
      const flow = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
      const assignment: Assignment = { body, list: elements.share(), reader, port, flow };
      start().postMessage(assignment, [port]);
      try {
        return readAll(() => take(ours, flow), use);
      } finally {
        ours.close();
      }
    },
    [Symbol.dispose]: () => {
      void thread?.terminate();
    },
  };
}

function startThread(): Worker {
  // Told to V8 as a whole, and heeded only where a thread begins: with the usual megabyte for what is young, this one
  // would collect garbage for a fifth of its time.
  setFlagsFromString('--min-semi-space-size=16');
  // The environment would be a copy of ours, with the password in it.
  const thread = new Worker(new URL(READER_URL), { env: {} });
  // One that has come to grief says nothing more, and is not waited for.
  thread.on('error', () => undefined);
  thread.unref();
  return thread;
}

function readAll(next: () => Message | undefined, use: (leagues: readonly ReadLeague[]) => void): Found | undefined {
  for (;;) {
    const message = next();
    if (message?.kind === 'end') return message.found;
    if (message?.kind !== 'leagues') return undefined;
    use(leaguesOf(message.values));
  }
}

/** A batch takes milliseconds. Nothing else is done here meanwhile, so that whatever is odd is better read elsewhere. */
const LONGEST_WAIT_MS = 2_000;

function take(port: MessagePort, flow: Int32Array<SharedArrayBuffer>): Message | undefined {
  for (;;) {
    const sent = Atomics.load(flow, SENT);
    const received = receiveMessageOnPort(port);
    if (received !== undefined) {
      Atomics.add(flow, TAKEN, 1);
      Atomics.notify(flow, TAKEN);
      return received.message;
    }
    if (Atomics.wait(flow, SENT, sent, LONGEST_WAIT_MS) === 'timed-out') return undefined;
  }
}

function leaguesOf(values: readonly ColumnValue[]): readonly ReadLeague[] {
  const leagues: ReadLeague[] = [];
  for (let end = VALUES_EACH; end <= values.length; end += VALUES_EACH) {
    const columns = values.slice(end - VALUES_EACH, end - 2);
    leagues.push({ columns, hash: String(values[end - 2]), json: String(values[end - 1]) });
  }
  return leagues;
}

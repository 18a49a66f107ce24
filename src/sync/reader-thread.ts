import { isMainThread, type MessagePort, parentPort } from 'node:worker_threads';
import { scrubTokensOf } from '../secret.ts';
import { type Found, type ReceivedLeague, readLeagues } from '../service/league.ts';
import { createElements, type SharedList } from '../service/listing.ts';
import { type ColumnValue, columnsOf, MEMBER_COLUMNS } from '../store/columns.ts';
import { atOnce } from '../stretches.ts';

/** What a thread runs that reads a list (see `read-ahead.ts`): this file or, in the bundle, the bundle. */
export const READER_URL = import.meta.url;

/** What it is told. */
export type Assignment = {
  readonly list: SharedList;
  /** The program's version. */
  readonly programVersion: string;
  /** Where messages go, each a `Message`. */
  readonly port: MessagePort;
  /** How many messages have been sent, and how many taken, at the places SENT and TAKEN. */
  readonly flow: Int32Array<SharedArrayBuffer>;
};

/** What it says: batches of leagues, each `VALUES_EACH` values, and then what else it found, or that it cannot go on. */
export type Message =
  | { readonly kind: 'leagues'; readonly values: readonly ColumnValue[] }
  | { readonly kind: 'end'; readonly found: Found }
  | { readonly kind: 'failure' };

export const SENT = 0;
export const TAKEN = 1;
/** The columns of a league's members, its hash, and all of it as JSON. */
export const VALUES_EACH = MEMBER_COLUMNS.length + 2;

const BATCH_VALUES = 256 * VALUES_EACH;
/** So far ahead that neither waits for the other all the time, and little of the list is in memory twice. */
const MOST_AHEAD = 16;

if (!isMainThread) parentPort?.once('message', read);

function read({ list, programVersion, port, flow }: Assignment): void {
  const send = (message: Message): void => {
    waitForRoom(flow);
    port.postMessage(message);
    Atomics.add(flow, SENT, 1);
    Atomics.notify(flow, SENT);
  };
  const scrubTokens = (json: string) => scrubTokensOf(list.sought, json);
  const elements = createElements(list, { scrubTokens, refusal: () => new Error('an element is no JSON') });
  let values: ColumnValue[] = [];
  const take = ({ league, hash, json }: ReceivedLeague): void => {
    values.push(...columnsOf(league()), hash, json());
    if (values.length < BATCH_VALUES) return;
    send({ kind: 'leagues', values });
    values = [];
  };
  try {
    const found = atOnce(readLeagues(elements, { programVersion }, take));
    send({ kind: 'leagues', values });
    send({ kind: 'end', found });
  } catch {
    // Whoever reads the list in the usual way finds out, and says, why.
    send({ kind: 'failure' });
  }
}

function waitForRoom(flow: Int32Array<SharedArrayBuffer>): void {
  for (;;) {
    const taken = Atomics.load(flow, TAKEN);
    if (Atomics.load(flow, SENT) - taken < MOST_AHEAD) return;
    Atomics.wait(flow, TAKEN, taken);
  }
}

import { isSameContent } from '../league-hash.ts';
import type { Head } from '../service/answer.ts';
import type { Fetched } from '../service/client.ts';
import { driftOf } from '../service/league.ts';
import type { Elements } from '../service/listing.ts';
import { isMostlyRejected } from '../service/rejection.ts';
import type { Deadline } from '../service/retry.ts';
import { MANY_LEAGUES } from '../store/bulk.ts';
import { idOf, statusOf } from '../store/columns.ts';
import type { LeagueRows } from '../store/leagues.ts';
import type { Sighting } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import type { ReadAhead, ReadLeague } from './read-ahead.ts';
import { NO_COUNTS } from './report.ts';
import type { Applied, RunTools } from './run.ts';

/** An answer whose list has been cut up. */
export type FirstList = Fetched & { readonly elements: Elements };

export function isFirstList(fetched: Fetched, store: Stored): fetched is FirstList {
  return (fetched.elements?.length ?? 0) >= MANY_LEAGUES && isFirst(store);
}

type Stored = Pick<Store, 'leagues' | 'read'>;

export function isFirst({ leagues, read }: Stored): boolean {
  return read(leagues.isEmpty);
}

/** What MANY_LEAGUES take at least, compressed. Where it is wrong, the thread only starts later. */
const LONG_BYTES = 200_000;

/** Whether an answer with this head may be a long list. */
export function mayBeLong({ header }: Head): boolean {
  return Number(header('content-length')) >= LONG_BYTES;
}

/**
 * Writes a list into a database without leagues while a thread still reads the rest of it: each league is added, and
 * none has to be compared. Undefined where only a look at the whole list tells what is to be done, as where leagues
 * contradict each other, or where the database holds leagues by now; what has been written then is to be taken back.
 */
export function loadFirst(
  { store, scope, drift, clock, programVersion }: RunTools,
  { body, elements }: FirstList,
  { ahead, deadline }: { readonly ahead: ReadAhead; readonly deadline: Deadline },
  seen: Sighting,
): Applied | undefined {
  const { leagues, bulk, rejections } = store;
  if (!leagues.isEmpty()) return undefined;
  const received = elements.length;
  let added = 0;
  let isContradicted = false;
  const statuses = new Set<string>();
  const isTimeUp = (): boolean => clock.monotonic() >= deadline.at;
  const found = bulk(received, () =>
    ahead.read(elements, { programVersion, isTimeUp }, (batch) => {
      const fresh = batch.filter(({ columns, hash }) => leagues.insert(columns, hash, seen.at));
      for (const { columns, json } of fresh)
        leagues.append({ ...seen, leagueId: idOf(columns), kind: 'added', before: null, after: json });
      added += fresh.length;
      for (const { columns } of fresh) statuses.add(statusOf(columns));
      if (fresh.length < batch.length) isContradicted ||= !batch.every((league) => isAsStored(league, leagues));
    }),
  );
  if (found === undefined || isContradicted || isMostlyRejected(found.rejections, received)) return undefined;
  if (found.rejections.some(({ leagueId }) => leagueId !== null && leagues.storedHash(leagueId) !== undefined))
    return undefined;
  drift.note([...found.drift, ...driftOf(body, statuses, scope)]);
  const newRejections = rejections.settle(found.rejections, scope, seen);
  const rejected = found.rejections.length;
  const counts = { ...NO_COUNTS, received, added, rejected, duplicates: received - added - rejected };
  return { outcome: 'changed', counts, newRejections };
}

function isAsStored({ columns, hash }: ReadLeague, { storedHash }: LeagueRows): boolean {
  const stored = storedHash(idOf(columns));
  return stored !== undefined && isSameContent(stored, hash);
}

import { toRunError } from '../../errors.ts';
import { readDays, readRecent } from '../../store/queries/feed.ts';
import { readIssues } from '../../store/queries/issues.ts';
import { createFacetCounter, listLeagues } from '../../store/queries/leagues.ts';
import { selectRuns } from '../../store/queries/overview.ts';
import { selectHeldRemovals } from '../../store/tables/held-removals.ts';
import type { Read } from '../reading.ts';
import { firstDayOf } from './changes.ts';
import { PAGE_SIZE } from './leagues.ts';
import { MOST_POLLS } from './poll-chart.ts';

const RECENT = 12;
/** Longer than any name; what is compared with each league must not take long. */
const LONGEST_SEARCH = 100;

export type HomeData = ReturnType<ReturnType<typeof createReader>>;

/** Reads what the first page shows under a query of its address, or says why it cannot. */
export function createReader(read: Read) {
  const countFacets = createFacetCounter();
  return (query: URLSearchParams, now: number) => {
    const filter = {
      search: query.get('q')?.slice(0, LONGEST_SEARCH) || undefined,
      sport: query.get('sport') || undefined,
      status: query.get('status') || undefined,
    };
    const page = readCount(query.get('page')) ?? 1;
    try {
      return read((db) => ({
        polls: selectRuns(db, MOST_POLLS, 'leagues'),
        days: readDays(db, new Date(firstDayOf(now)).toISOString()),
        recent: readRecent(db, {}, RECENT),
        issues: { ...readIssues(db), held: selectHeldRemovals(db) },
        leagues: { filter, facets: countFacets(db), listing: listLeagues(db, filter, { page, limit: PAGE_SIZE }) },
      }));
    } catch (error) {
      return { fault: toRunError(error).message };
    }
  };
}

/** A whole number from 1; undefined for anything else. */
export function readCount(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

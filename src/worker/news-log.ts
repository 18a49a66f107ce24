import type { Drift } from '../drift.ts';
import type { Log } from '../log.ts';
import type { NewRejection, Several } from '../sync/news.ts';
import type { RunReport } from '../sync/report.ts';

/** Warns of what a run found that no run before it had, once: afterwards it is in the database, and no news. */
export function logNews(log: Log, { runId, kind, news }: RunReport): void {
  if (news === undefined) return;
  const { drift, rejections } = news;
  const run = { run_id: runId, kind };
  if (drift.count > 0)
    log.warn(
      { ...run, new_drift: drift.count, drift: drift.first },
      `${kind}: ${drift.count} new ${drift.count === 1 ? 'departure' : 'departures'} from the interface (drift): ${list(drift, describeDrift)}`,
    );
  if (rejections.count > 0)
    log.warn(
      { ...run, new_rejections: rejections.count, rejected_leagues: rejections.first.map(columnsOf) },
      `${kind}: ${rejections.count} new ${rejections.count === 1 ? 'entry' : 'entries'} that cannot be stored (rejected_leagues): ${list(rejections, describeRejection)}`,
    );
}

function list<T>({ count, first }: Several<T>, describe: (one: T) => string): string {
  const more = count > first.length ? [`and ${count - first.length} more`] : [];
  return [...first.map(describe), ...more].join('; ');
}

function describeDrift({ field, kind, detail }: Drift): string {
  return `${field} ${kind} (${detail})`;
}

function columnsOf({ leagueId, position, problems }: NewRejection) {
  return { league_id: leagueId, position, problems };
}

function describeRejection({ leagueId, position, problems }: NewRejection): string {
  const [{ path, message } = { path: '', message: '' }, ...others] = problems;
  const what = `${path} ${message}`.trim() + (others.length > 0 ? ', …' : '');
  return `leagues[${position}]${leagueId === null ? '' : ` (${leagueId})`} ${what}`;
}

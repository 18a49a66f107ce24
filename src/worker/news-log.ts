import type { Drift } from '../drift.ts';
import type { Log } from '../log.ts';
import type { Rejection } from '../service/leagues.ts';
import type { RunReport } from '../sync/report.ts';

/** Takes secrets out of the service's words. */
type Scrub = (text: string) => string;

const MOST_NAMED = 3;
const LONGEST_NAME = 100;

/** Warns of what a run found that no run before it had, once: afterwards it is in the database, and no news. */
export function logNews(log: Log, { runId, kind, news }: RunReport, scrub: Scrub): void {
  const { drift = [], rejections = [] } = news ?? {};
  const run = { run_id: runId, kind };
  if (drift.length > 0) {
    const first = drift.slice(0, MOST_NAMED).map((one) => ({ ...one, field: shorten(one.field, scrub) }));
    log.warn(
      { ...run, new_drift: drift.length, drift: first },
      `${kind}: ${drift.length} new ${drift.length === 1 ? 'departure' : 'departures'} from the interface (drift): ${list(first.map(describeDrift), drift.length)}`,
    );
  }
  if (rejections.length > 0) {
    const first = rejections.slice(0, MOST_NAMED).map((one) => columnsOf(one, scrub));
    log.warn(
      { ...run, new_rejections: rejections.length, rejected_leagues: first },
      `${kind}: ${rejections.length} new ${rejections.length === 1 ? 'entry' : 'entries'} that cannot be stored (rejected_leagues): ${list(first.map(describeRejection), rejections.length)}`,
    );
  }
}

/** Names and ids are the service's. */
function shorten(name: string, scrub: Scrub): string {
  const text = scrub(name);
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text;
}

function list(first: readonly string[], count: number): string {
  const more = count > first.length ? [`and ${count - first.length} more`] : [];
  return [...first, ...more].join('; ');
}

function describeDrift({ field, kind, detail }: Drift): string {
  return `${field} ${kind} (${detail})`;
}

function columnsOf({ leagueId, position, problems }: Rejection, scrub: Scrub) {
  const league_id = leagueId === null ? null : shorten(leagueId, scrub);
  return { league_id, position, problems: problems.slice(0, MOST_NAMED) };
}

function describeRejection({ league_id, position, problems }: ReturnType<typeof columnsOf>): string {
  const [{ path, message } = { path: '', message: '' }, ...others] = problems;
  const what = `${path} ${message}`.trim() + (others.length > 0 ? ', …' : '');
  return `leagues[${position}]${league_id === null ? '' : ` (${league_id})`} ${what}`;
}

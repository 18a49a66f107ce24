import type { Config } from '../config/config.ts';
import type { RequestStats } from '../service/client.ts';
import { describeRejection, type LeagueList, parseLeagues } from '../service/parse-leagues.ts';
import type { Service } from '../service/service.ts';
import type { Snapshot } from '../store/queries/overview.ts';
import { planPoll } from '../sync/plan.ts';
import { describeCounts } from '../sync/report.ts';
import { formatSize } from '../time/duration.ts';
import { type CheckResult, failure, ok, warn } from './result.ts';

const REJECTIONS_SHOWN = 3;
export const ASK_OPERATOR = 'ask the operator of the service';
export const TELL_OPERATOR = 'tell the operator of the service';

export async function checkLeagues({ client, startDeadline, drift }: Service, { scope }: Config) {
  const stats: RequestStats = { attempts: 0 };
  let fix = ASK_OPERATOR;
  using deadline = startDeadline();
  try {
    const fetched = await client.fetchLeagues(scope, { deadline, stats });
    fix = `${TELL_OPERATOR} that polls fail until this is fixed`;
    const list = await parseLeagues(fetched.body, scope);
    drift.add(list.drift);
    const conditional: RequestStats = { attempts: 0 };
    if ((fetched.etag ?? fetched.lastModified) !== undefined)
      await client.fetchLeaguesIfChanged(scope, fetched, { deadline, stats: conditional });
    const results = [describeList(list, stats.bodyBytes ?? 0), ...(conditional.attempts > 1 ? [CONDITIONS_FAIL] : [])];
    return { results, list };
  } catch (error) {
    return { results: [failure('leagues', error, fix)], list: undefined };
  }
}

const CONDITIONS_FAIL = warn(
  'leagues',
  'the service sends ETag or Last-Modified, but a request that sends it back succeeded only when repeated without it, as polls do',
  TELL_OPERATOR,
);

function describeList({ received, rejections, duplicates }: LeagueList, bytes: number): CheckResult {
  const twice = duplicates === 0 ? '' : `, ${duplicates} of them duplicates`;
  const size = `${received} received, ${formatSize(bytes)}${twice}`;
  if (rejections.length === 0) return ok('leagues', size);
  const first = rejections.slice(0, REJECTIONS_SHOWN).map(describeRejection).join('; ');
  const more = rejections.length > REJECTIONS_SHOWN ? ', …' : '';
  const message = `${size}; ${rejections.length} cannot be stored, and their stored rows stay unchanged: ${first}${more}`;
  return warn('leagues', message, TELL_OPERATOR);
}

const FIX_HELD =
  'list the removals with league-sync sync --dry-run; if they are real, accept them with league-sync accept-removals after that poll';
const FIX_UNREADABLE = `${TELL_OPERATOR} that some elements have no readable league_id; removals are held until this is fixed`;

export function describePoll(snapshot: Snapshot, list: LeagueList, config: Config): CheckResult {
  const { outcome, counts, heldBecause } = planPoll(snapshot, list, config);
  const message = `would be ${outcome}: ${describeCounts(counts, undefined)}`;
  if (outcome !== 'held') return ok('next poll', message);
  const fix = list.rejections.some(({ leagueId }) => leagueId === null) ? FIX_UNREADABLE : FIX_HELD;
  return warn('next poll', `${message}; held because ${heldBecause}`, fix);
}

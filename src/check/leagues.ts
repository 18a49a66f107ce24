import type { Config, Scope } from '../config/config.ts';
import { formatSize } from '../duration.ts';
import { ContractError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { Trace } from '../service/client.ts';
import { type LeagueList, parseLeagues, type Rejection } from '../service/leagues.ts';
import type { Snapshot } from '../store/queries/overview.ts';
import { planPoll } from '../sync/plan.ts';
import { describeCounts } from '../sync/report.ts';
import { explain, type Finding, fail, ok, warn } from './finding.ts';
import type { OneShotClient } from './one-shot-client.ts';

const REJECTIONS_SHOWN = 3;

/** What was found of the list, and the list where it can be applied. */
export type ReadList = { readonly findings: readonly Finding[]; readonly list: LeagueList | undefined };

/** Asks for the leagues and holds them against the interface. */
export async function lookAtLeagues(visit: OneShotClient, { scope }: Config): Promise<ReadList> {
  const trace: Trace = { attempts: 0 };
  try {
    const fetched = await visit.client.fetchLeagues(scope, visit.once(), trace);
    return await readList(visit, fetched?.body ?? {}, { scope, bytes: trace.bodyBytes ?? 0 });
  } catch (error) {
    const fix = 'check LEAGUE_SYNC_BASE_URL, and ask the operator of the service';
    return { findings: [fail('leagues', explain(error, fix))], list: undefined };
  }
}

type Received = { readonly scope: Scope; readonly bytes: number };

async function readList(visit: OneShotClient, body: JsonObject, { scope, bytes }: Received): Promise<ReadList> {
  try {
    const list = await parseLeagues(body, scope);
    visit.drift.note(list.drift);
    return { findings: [describeList(list, bytes)], list };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const fix = 'tell the operator of the service that polls fail until this is right';
    return { findings: [fail('leagues', explain(error, fix))], list: undefined };
  }
}

function describeList({ received, rejections, duplicates }: LeagueList, bytes: number): Finding {
  const twice = duplicates === 0 ? '' : `, ${duplicates} of them said before`;
  const size = `${received} received, ${formatSize(bytes)}${twice}`;
  if (rejections.length === 0) return ok('leagues', size);
  const first = rejections.slice(0, REJECTIONS_SHOWN).map(describeRejection).join(', ');
  return warn('leagues', {
    message: `${size}; ${rejections.length} cannot be stored, and what is stored of them stays as it is: ${first}${rejections.length > REJECTIONS_SHOWN ? ', …' : ''}`,
    fix: 'tell the operator of the service',
  });
}

function describeRejection({ position, problems }: Rejection): string {
  return `leagues[${position}] ${problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' and ')}`;
}

const FIX_HELD =
  'list them with league-sync sync --dry-run; if they are right, accept them with league-sync accept-removals after that poll';
const FIX_UNREADABLE =
  'tell the operator of the service that some elements have no readable league_id; no removal is applied until they have';

/** What the next poll would do with the list. */
export function describePoll(snapshot: Snapshot, list: LeagueList, config: Config): Finding {
  const { outcome, counts, heldBecause } = planPoll(snapshot, list, config);
  const message = `would be ${outcome}: ${describeCounts(counts, undefined)}`;
  if (outcome !== 'held') return ok('next poll', message);
  return warn('next poll', {
    message: `${message}; held because ${heldBecause}`,
    fix: list.rejections.some(({ leagueId }) => leagueId === null) ? FIX_UNREADABLE : FIX_HELD,
  });
}

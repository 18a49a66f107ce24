import type { Config, Scope } from '../config/config.ts';
import { formatSize } from '../duration.ts';
import { ContractError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { Trace } from '../service/client.ts';
import { type LeagueList, parseLeagues, type Rejection } from '../service/leagues.ts';
import type { Snapshot } from '../store/queries/overview.ts';
import { planPoll } from '../sync/plan.ts';
import { describeCounts } from '../sync/report.ts';
import type { OneShotClient } from './one-shot-client.ts';
import { type CheckResult, failed, ok, warn } from './result.ts';

const REJECTIONS_SHOWN = 3;

/** What was found of the list, and the list where it can be applied. */
export type ReadList = { readonly results: readonly CheckResult[]; readonly list: LeagueList | undefined };

/** Asks for the leagues and holds them against the interface. */
export async function checkLeagues(client: OneShotClient, { scope }: Config): Promise<ReadList> {
  const trace: Trace = { attempts: 0 };
  try {
    const { body } = await client.client.fetchLeagues(scope, client.once(), trace);
    return await readList(client, body, { scope, bytes: trace.bodyBytes ?? 0 });
  } catch (error) {
    const fix = 'check LEAGUE_SYNC_BASE_URL, and ask the operator of the service';
    return { results: [failed('leagues', error, fix)], list: undefined };
  }
}

type Received = { readonly scope: Scope; readonly bytes: number };

async function readList(client: OneShotClient, body: JsonObject, { scope, bytes }: Received): Promise<ReadList> {
  try {
    const list = await parseLeagues(body, scope);
    client.drift.note(list.drift);
    return { results: [describeList(list, bytes)], list };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const fix = 'tell the operator of the service that polls fail until this is right';
    return { results: [failed('leagues', error, fix)], list: undefined };
  }
}

function describeList({ received, rejections, duplicates }: LeagueList, bytes: number): CheckResult {
  const twice = duplicates === 0 ? '' : `, ${duplicates} of them said before`;
  const size = `${received} received, ${formatSize(bytes)}${twice}`;
  if (rejections.length === 0) return ok('leagues', size);
  const first = rejections.slice(0, REJECTIONS_SHOWN).map(describeRejection).join(', ');
  const more = rejections.length > REJECTIONS_SHOWN ? ', …' : '';
  const message = `${size}; ${rejections.length} cannot be stored, and what is stored of them stays as it is: ${first}${more}`;
  return warn('leagues', message, 'tell the operator of the service');
}

function describeRejection({ position, problems }: Rejection): string {
  return `leagues[${position}] ${problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' and ')}`;
}

const FIX_HELD =
  'list them with league-sync sync --dry-run; if they are right, accept them with league-sync accept-removals after that poll';
const FIX_UNREADABLE =
  'tell the operator of the service that some elements have no readable league_id; no removal is applied until they have';

/** What the next poll would do with the list. */
export function describePoll(snapshot: Snapshot, list: LeagueList, config: Config): CheckResult {
  const { outcome, counts, heldBecause } = planPoll(snapshot, list, config);
  const message = `would be ${outcome}: ${describeCounts(counts, undefined)}`;
  if (outcome !== 'held') return ok('next poll', message);
  const fix = list.rejections.some(({ leagueId }) => leagueId === null) ? FIX_UNREADABLE : FIX_HELD;
  return warn('next poll', `${message}; held because ${heldBecause}`, fix);
}

import { isObject, parseJson } from '../json.ts';
import { LEAGUE_MEMBERS, type League } from '../league.ts';
import { valueJson } from '../record.ts';
import type { Plan } from '../sync/leagues.ts';
import type { Difference } from '../sync/reconcile.ts';

/** What a plan would do, a line each: `+` added, `~` changed, `^` restored, `-` removed, `?` held. */
export function describePlan({ changeSet, removals }: Plan, load: (leagueId: string) => League): readonly string[] {
  const name = (leagueId: string): string => `${leagueId}  ${load(leagueId).league_name}`;
  return [
    ...changeSet.added.map((added) => `+ ${added.leagueId}  ${added.league().league_name}`),
    ...changeSet.changed.flatMap((difference) => describeDifference('~', difference)),
    ...changeSet.restored.flatMap((difference) => describeDifference('^', difference)),
    ...removals.removed.map((leagueId) => `- ${name(leagueId)}`),
    ...removals.held.map((leagueId) => `? ${name(leagueId)}  (removal would be held)`),
  ];
}

function describeDifference(sign: string, { before, after }: Difference): readonly string[] {
  const league = after.league();
  const old = parseJson(before);
  const members = isObject(old) ? Object.entries(old) : [];
  return [
    `${sign} ${league.league_id}  ${league.league_name}`,
    ...members.map(([name, value]) => `    ${name}: ${JSON.stringify(value)} -> ${newValue(league, name)}`),
  ];
}

function newValue(league: League, name: string): string {
  const field = LEAGUE_MEMBERS.find((member) => member.name === name);
  return field === undefined ? 'null' : valueJson(field, league[field.name]);
}

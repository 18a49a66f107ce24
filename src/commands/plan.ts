import { LEAGUE_MEMBERS, type League } from '../interface.ts';
import { isObject, type JsonValue, parseJson, rawNumber } from '../json.ts';
import type { ReceivedLeague } from '../service/leagues.ts';
import type { FeedEntry } from '../store/queries/feed.ts';
import type { Plan } from '../sync/plan.ts';
import type { Difference } from '../sync/reconcile.ts';
import type { Terminal } from '../terminal/style.ts';
import { wrap } from '../terminal/text.ts';
import { type ChangedField, type ChangeRow, describeLeague, formatChanges } from './change-line.ts';

/** What a poll would do to one league: what the feed would say of it, or that its removal would be held. */
export type PlannedChange = Pick<FeedEntry, 'league_id' | 'league_name' | 'fields'> & {
  readonly kind: FeedEntry['kind'] | 'held';
};

/** All that a plan would do, a kind after the other. */
export function listChanges({ changes, removals }: Plan, load: (leagueId: string) => League): readonly PlannedChange[] {
  const missing = (kind: 'removed' | 'held') => (leagueId: string) => ({
    kind,
    league_id: leagueId,
    league_name: load(leagueId).league_name,
    fields: [],
  });
  return [
    ...changes.added.map((added) => received('added', added)),
    ...changes.changed.map((difference) => differing('changed', difference)),
    ...changes.restored.map((difference) => differing('restored', difference)),
    ...removals.removed.map(missing('removed')),
    ...removals.held.map(missing('held')),
  ];
}

function received(kind: PlannedChange['kind'], league: ReceivedLeague): PlannedChange {
  const { league_id, league_name } = league.league;
  return { kind, league_id, league_name, fields: [] };
}

function differing(kind: PlannedChange['kind'], { before, after }: Difference): PlannedChange {
  const league = after.league;
  const old = parseJson(before);
  const members = isObject(old) ? Object.entries(old) : [];
  return { ...received(kind, after), fields: members.map(([field, value]) => fieldOf(league, field, value)) };
}

function fieldOf(league: League, name: string, value: JsonValue): ChangedField {
  const field = LEAGUE_MEMBERS.find((member) => member.name === name);
  const now = field === undefined ? null : league[field.name];
  return { field: name, old: field?.type === 'json' ? JSON.stringify(value) : columnOf(value), now };
}

/** A value of the feed in the form in which its column holds it. */
function columnOf(value: JsonValue): unknown {
  const digits = rawNumber(value);
  if (digits === undefined) return value;
  return /^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits);
}

/** A line each, for a pipe. */
export function formatPlan(changes: readonly PlannedChange[]): string {
  return changes.map((change) => `${change.kind.padEnd(KIND_WIDTH)}  ${describeLeague(change)}`).join('\n');
}

const KIND_WIDTH = 8;
/** Of each kind: nobody reads more at a terminal. */
const MOST_SHOWN = 20;

/** The first of each kind as they fit the terminal, and how many more there are. */
export function showPlan(changes: readonly PlannedChange[], terminal: Terminal): string {
  const kinds = KINDS.map((kind) => changes.filter((change) => change.kind === kind));
  const rows = kinds.flatMap((some) => [...some.slice(0, MOST_SHOWN).map(rowOf), ...countRest(some.length)]);
  const isCut = kinds.some((some) => some.length > MOST_SHOWN);
  const hint = isCut ? ['', ...wrap('league-sync sync --dry-run | cat lists all of them', terminal.columns)] : [];
  return [...formatChanges(rows, terminal), ...hint, ''].join('\n');
}

const TONES = { added: 'good', changed: 'warning', restored: 'good', removed: 'bad', held: 'warning' } as const;
const KINDS: readonly PlannedChange['kind'][] = ['added', 'changed', 'restored', 'removed', 'held'];

function rowOf({ kind, league_id, league_name, fields }: PlannedChange): ChangeRow {
  return { lead: [], mark: { text: kind, tone: TONES[kind] }, name: league_name?.trim() || league_id, fields };
}

function countRest(number: number): readonly ChangeRow[] {
  if (number <= MOST_SHOWN) return [];
  return [{ lead: [], mark: { text: '', tone: 'plain' }, name: `… and ${number - MOST_SHOWN} more`, fields: [] }];
}

import { formatBareValue, nameBefore } from '../store/change-words.ts';
import { changedFields } from '../store/queries/changed-fields.ts';
import type { Change } from '../store/queries/feed.ts';
import { escapeControls } from '../terminal/style.ts';
import { plural } from '../terminal/text.ts';

const MAX_TOLD = 3;
const MAX_PART = 40;
export const MAX_SUMMARY = 300;

/** What a message of changes says to people, such as `2 leagues changed: NFL priority 1 → 2; NBA state offseason → live.` */
export function summarizeChanges(changes: readonly Change[]): string {
  const kinds = [...Map.groupBy(changes, ({ kind }) => kind)].map(([kind, of]) => {
    return { kind, leagues: new Set(of.map(({ league_id }) => league_id)).size };
  });
  const counts = kinds.map(({ kind, leagues }, index) => `${index > 0 ? leagues : plural(leagues, 'league')} ${kind}`);
  const told = changes.slice(0, MAX_TOLD).map((change) => describe(change, kinds.length > 1));
  const more = changes.length > MAX_TOLD ? ` and ${changes.length - MAX_TOLD} more` : '';
  return cut(`${counts.join(', ')}: ${told.join('; ')}${more}.`, MAX_SUMMARY);
}

function describe(change: Change, namesKind: boolean): string {
  const fields = changedFields(change).map(({ field, old, now }) => {
    return `${field} ${cut(formatBareValue(old), MAX_PART)} → ${cut(formatBareValue(now), MAX_PART)}`;
  });
  const name = cut(nameBefore(change) ?? change.league_id, MAX_PART);
  if (fields.length > 0) return `${name} ${fields.join(', ')}`;
  return namesKind ? `${name} ${change.kind}` : name;
}

/** In characters, not in halves of them. */
function cut(text: string, length: number): string {
  const characters = [...escapeControls(text.slice(0, 2 * length + 2))];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : characters.join('');
}

import { html } from 'hono/html';
import { tellingOf } from '../../store/queries/feed.ts';
import type { FieldChange, RecentChange } from '../../store/queries/recent.ts';
import { foreign, type Html, linkToLeague, when } from './words.ts';

const MOST_FIELDS = 6;

/** Changes of the feed, newest first. `named` where it is not clear anyway which league they are of. */
export function listChanges(changes: readonly RecentChange[], now: number, named = true): Html {
  if (changes.length === 0) return html`<p class="muted">No changes.</p>`;
  return html`<ol class="feed">${changes.map(
    (change) => html`<li id="change-${change.seq}">
<span class="tag ${change.kind}">${change.kind}</span>
${named ? html`${linkToLeague(change.league_id, change.league_name)}` : ''}
<span class="muted">${when(change.at, now)}</span>${describeFields(change.fields)}</li>`,
  )}</ol>`;
}

function describeFields(fields: readonly FieldChange[]): Html | '' {
  const told = tellingOf(fields);
  if (told.length === 0) return '';
  const rest = told.length - MOST_FIELDS;
  return html`<p>${told.slice(0, MOST_FIELDS).map(({ field, old, now }, index) => html`${index > 0 ? ' · ' : ''}<code>${field}</code> ${value('del', old)} → ${value('ins', now)}`)}${rest > 0 ? ` · and ${rest} more` : ''}</p>`;
}

function value(tag: 'del' | 'ins', text: string | null): Html {
  const shown =
    text === null
      ? html`<span class="muted">nothing</span>`
      : text === ''
        ? html`<span class="muted">an empty text</span>`
        : foreign(text);
  return tag === 'del' ? html`<del>${shown}</del>` : html`<ins>${shown}</ins>`;
}

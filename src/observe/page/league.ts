import { html } from 'hono/html';
import type { Portrait } from '../../store/queries/portrait.ts';
import type { RecentChange } from '../../store/queries/recent.ts';
import { listChanges } from './feed.ts';
import { foreign, type Html, when } from './words.ts';

/** So many changes of its history are shown at once. */
export const MOST_HISTORY = 100;

export type LeagueView = {
  readonly id: string;
  readonly portrait: Portrait;
  readonly history: readonly RecentChange[];
};

/** One league: all that is known of it, and how it came to be so. */
export function drawLeague({ id, portrait, history }: LeagueView, now: number): Html {
  const { name, fields, first_seen_at, changed_at, removed_at, held_since } = portrait;
  return html`<section aria-labelledby="league-title" data-part="league"><h1 id="league-title">${foreign(name || id)}</h1>
<p>${removed_at === null ? html`<span class="tag good">listed</span>` : html`<span class="tag removed">removed</span> ${when(removed_at, now)}`}
${held_since === null ? '' : html`<span class="tag held">removal held</span> first held ${when(held_since, now)}`}
<span class="muted">first seen ${when(first_seen_at, now)}, changed ${when(changed_at, now)}</span></p>
<dl class="fields">${fields.map(
    ({ name: field, value }) =>
      html`<dt><code>${field}</code></dt><dd>${value.text === null ? html`<span class="muted">nothing</span>` : foreign(value.text, value.length)}</dd>`,
  )}</dl></section>
<section aria-labelledby="history-title" data-part="history"><h2 id="history-title">History</h2>${listChanges(history, now, false)}
${history.length === MOST_HISTORY ? html`<p class="muted">The newest ${MOST_HISTORY} changes; <code>league-sync changes --league ID</code> prints them all.</p>` : ''}</section>`;
}

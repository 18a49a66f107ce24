import { html } from 'hono/html';
import type { RecentChange } from '../../store/queries/recent.ts';
import { listChanges } from './feed.ts';
import type { Html } from './words.ts';

/** So many changes are shown at once. */
export const MOST_CHANGES = 100;

export type ChangesView = { readonly day: string | undefined; readonly changes: readonly RecentChange[] };

/** The change feed, newest first, all of it or one day's. */
export function drawChanges({ day, changes }: ChangesView, now: number): Html {
  const oldest = changes.at(-1)?.seq;
  const older = new URLSearchParams({ ...(day === undefined ? {} : { day }), before: String(oldest) });
  return html`<section aria-labelledby="changes-title" data-part="choice"><h1 id="changes-title">Changes${day === undefined ? '' : ` of ${day}`}</h1>
<form action="/changes" method="get"><label>Day (UTC) <input type="date" name="day" value="${day ?? ''}"></label><button type="submit">Show</button></form></section>
<section aria-label="List of changes" data-part="changes">${listChanges(changes, now)}
${changes.length === MOST_CHANGES ? html`<p><a href="/changes?${older}">Older changes</a></p>` : ''}</section>`;
}

import { html } from 'hono/html';
import type { Facet, Facets } from '../../store/queries/leagues.ts';
import type { Freshness } from '../../store/queries/overview.ts';
import { count, type Html, pathWith, visible } from './html.ts';

const WIDTH = 300;
const MAX_SPORTS = 4;
const MAX_STATUSES = 4;

/** How many leagues are listed, by status and in the most frequent sports; `counts` is undefined before the first poll. */
export function renderLeaguesCard({ sports, statuses }: Facets, counts: Freshness | undefined): Html {
  const { live_leagues: listed, removed_leagues: removed = 0 } = counts ?? {};
  const none = listed === undefined ? 'No leagues yet.' : 'The service lists none.';
  const listedBy = statuses.filter(({ name }) => name !== 'removed');
  return html`<section aria-labelledby="leagues-title"><div class="top"><h2 id="leagues-title">Leagues</h2>${!listed ? '' : html`<p class="end plain"><a href="leagues">All leagues</a></p>`}</div>
<p class="big">${count(listed ?? 0)} <small>listed${removed === 0 ? '' : html` &middot; <a href="leagues?status=removed">${count(removed)} removed</a> (history kept)`}</small></p>
${!listed ? html`<p class="muted">${none}</p>` : html`${renderStatuses(listedBy)}${renderSports(sports)}`}</section>`;
}

function renderStatuses(statuses: readonly Facet[]): Html {
  const ordered = statuses.toSorted((one, other) => rank(one.name) - rank(other.name));
  const total = ordered.reduce((sum, { leagues }) => sum + leagues, 0);
  let x = 0;
  const parts = ordered.map(({ name, leagues }) => {
    const width = (WIDTH * leagues) / total;
    x += width;
    return html`<rect class="${rank(name) === 2 ? 'other' : name}" x="${(x - width).toFixed(1)}" width="${Math.max(1, width - 1.5).toFixed(1)}" height="8"/>`;
  });
  return html`<svg class="bar" viewBox="0 0 ${WIDTH} 8" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>
<p class="split plain">${ordered.slice(0, MAX_STATUSES).map(({ name, leagues }) => html`<span><a href="${pathWith('leagues', { status: name })}">${count(leagues)} ${visible(name, '(empty)')}</a></span>`)}</p>`;
}

const rank = (status: string): number => (status === 'active' ? 0 : status === 'inactive' ? 1 : 2);

function renderSports(sports: readonly Facet[]): Html {
  const most = sports[0]?.leagues ?? 1;
  return html`<table class="sports"><tbody>${sports.slice(0, MAX_SPORTS).map(
    ({
      name,
      leagues,
    }) => html`<tr><th scope="row"><a href="${pathWith('leagues', { sport: name })}">${visible(name, '(empty)')}</a></th>
<td><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${Math.max(1, (100 * leagues) / most).toFixed(1)}" height="8" rx="2"/></svg></td><td class="number">${count(leagues)}</td></tr>`,
  )}</tbody></table>`;
}

import { html } from 'hono/html';
import type { Facet, Facets, Filter, Listing } from '../../store/queries/leagues.ts';
import { count, countOf, foreign, type Html, linkToLeague, when } from './words.ts';

/** So many leagues are listed at once. */
export const PAGE_SIZE = 50;
const MOST_SPORTS = 12;

export type LeaguesView = {
  readonly filter: Filter;
  readonly listing: Listing;
  readonly facets: Facets;
};

/** The leagues: a search, sports and statuses as links that can be kept, and a page of the list. */
export function listLeagues(view: LeaguesView, now: number): Html {
  const { filter, facets, listing } = view;
  return html`<section id="leagues" aria-labelledby="leagues-title" data-part="leagues">
<h2 id="leagues-title">Leagues</h2>
<form action="/#leagues" method="get" role="search">
<label>Name, place or id <input type="search" name="q" value="${filter.search ?? ''}"></label>
<label>Sport ${choose('sport', facets.sports, filter.sport)}</label>
<label>Status ${choose('status', facets.statuses, filter.status)}</label>
<button type="submit">Search</button>
</form>
<nav aria-label="Sports"><ul class="facets">${[
    facetLink(view, 'sport', undefined, 'all sports'),
    ...facets.sports.slice(0, MOST_SPORTS).map((facet) => facetLink(view, 'sport', facet.name, labelOf(facet))),
  ]}</ul></nav>
<nav aria-label="Statuses"><ul class="facets">${[
    facetLink(view, 'status', undefined, 'all listed'),
    ...facets.statuses.map((facet) => facetLink(view, 'status', facet.name, labelOf(facet))),
  ]}</ul></nav>
${listing.leagues.length === 0 ? explainNone(view) : table(view, now)}
${turnPages(view)}
</section>`;
}

function explainNone({ filter, facets }: LeaguesView): Html {
  if (facets.statuses.length === 0) return html`<p class="muted">No leagues yet.</p>`;
  const { search } = filter;
  return html`<p class="muted">No leagues match${search === undefined ? '' : html` “${foreign(search)}”`}. <a href="/#leagues">Show all</a></p>`;
}

function labelOf({ name, leagues }: Facet): Html {
  return html`${foreign(name)} <span class="muted">${count(leagues)}</span>`;
}

function choose(name: string, facets: readonly Facet[], chosen: string | undefined): Html {
  const names = facets.map((facet) => facet.name);
  const all = chosen === undefined || names.includes(chosen) ? names : [chosen, ...names];
  return html`<select name="${name}"><option value="">any</option>${all.map(
    (option) => html`<option value="${option}"${option === chosen ? html` selected` : ''}>${option}</option>`,
  )}</select>`;
}

function facetLink(
  { filter }: LeaguesView,
  name: 'sport' | 'status',
  value: string | undefined,
  label: Html | string,
): Html {
  const current = filter[name] === value;
  return html`<li><a href="${pathOf({ ...filter, [name]: value }, 1)}"${current ? html` aria-current="true"` : ''}>${label}</a></li>`;
}

/** The path of a page of the list under a filter. */
function pathOf({ search, sport, status }: Filter, page: number): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ q: search, sport, status })) if (value) query.set(name, value);
  if (page > 1) query.set('page', String(page));
  return `/${query.size > 0 ? `?${query}` : ''}#leagues`;
}

function table({ listing }: LeaguesView, now: number): Html {
  const first = (listing.page - 1) * PAGE_SIZE + 1;
  return html`<table class="wide">
<caption>${countOf(listing.total, 'league')}${listing.total > PAGE_SIZE ? html`, ${count(first)} to ${count(first + listing.leagues.length - 1)} by name` : ' by name'}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Sport</th><th scope="col">Status</th><th scope="col">Place</th><th scope="col">Changed</th></tr></thead>
<tbody>${listing.leagues.map(
    (league) => html`<tr>
<th scope="row">${linkToLeague(league.league_id, league.league_name)}</th>
<td>${foreign(league.sport)}</td>
<td>${league.removed_at === null ? html`<span class="tag ${league.status === 'active' ? 'good' : ''}">${foreign(league.status)}</span>` : html`<span class="tag removed">removed</span>`}</td>
<td>${foreign(league.place ?? '')}</td>
<td>${when(league.changed_at, now)}</td>
</tr>`,
  )}</tbody></table>`;
}

function turnPages({ filter, listing }: LeaguesView): Html | '' {
  const { page } = listing;
  const last = Math.ceil(listing.total / PAGE_SIZE);
  if (last <= 1) return '';
  const link = (to: number, words: string): Html | '' =>
    to < 1 || to > last ? '' : html`<li><a href="${pathOf(filter, to)}">${words}</a></li>`;
  return html`<nav aria-label="Pages of the list"><ul class="pages">${link(page - 1, '← Previous')}<li class="muted">page ${count(page)} of ${count(last)}</li>${link(page + 1, 'Next →')}</ul></nav>`;
}

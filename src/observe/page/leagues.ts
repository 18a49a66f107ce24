import { html } from 'hono/html';
import type { RecentChange } from '../../store/queries/feed.ts';
import type { Facet, Facets, Filter, LeagueDetails, LeaguePage } from '../../store/queries/leagues.ts';
import { MAX_CHANGES, renderChangeList } from './changes.ts';
import { bdi, count, countOf, type Html, linkToLeague, relativeTime } from './html.ts';

export const PAGE_SIZE = 50;
const MAX_SPORTS = 12;

export type LeaguesView = { readonly filter: Filter; readonly listing: LeaguePage; readonly facets: Facets };

export function renderLeagues(view: LeaguesView, now: number): Html {
  const { filter, facets, listing } = view;
  return html`<section id="leagues" aria-labelledby="leagues-title" data-part="leagues">
<h2 id="leagues-title">Leagues</h2>
<form action="/#leagues" method="get" role="search">
<label>Name, place or id <input type="search" name="q" value="${filter.search ?? ''}"></label>
<label>Sport ${renderSelect('sport', facets.sports, filter.sport)}</label>
<label>Status ${renderSelect('status', facets.statuses, filter.status)}</label>
<button type="submit">Search</button>
</form>
<nav aria-label="Sports">${renderFacets('sport', 'all sports', facets.sports.slice(0, MAX_SPORTS), filter)}</nav>
<nav aria-label="Statuses">${renderFacets('status', 'all listed', facets.statuses, filter)}</nav>
${listing.leagues.length === 0 ? explainEmpty(view) : renderTable(listing, now)}
${renderPager(view)}
</section>`;
}

function renderSelect(name: string, facets: readonly Facet[], chosen: string | undefined): Html {
  const names = facets.map((facet) => facet.name);
  const all = chosen === undefined || names.includes(chosen) ? names : [chosen, ...names];
  return html`<select name="${name}"><option value="">any</option>${all.map(
    (option) => html`<option value="${option}"${option === chosen ? html` selected` : ''}>${option}</option>`,
  )}</select>`;
}

function renderFacets(name: 'sport' | 'status', all: string, facets: readonly Facet[], filter: Filter): Html {
  const link = (value: string | undefined, label: Html | string): Html =>
    html`<li><a href="${listPath({ ...filter, [name]: value }, 1)}"${filter[name] === value ? html` aria-current="true"` : ''}>${label}</a></li>`;
  return html`<ul class="facets">${link(undefined, all)}${facets.map((facet) =>
    link(facet.name, html`${bdi(facet.name)} <span class="muted">${count(facet.leagues)}</span>`),
  )}</ul>`;
}

function listPath({ search, sport, status }: Filter, page: number): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ q: search, sport, status })) if (value) query.set(name, value);
  if (page > 1) query.set('page', String(page));
  return `/${query.size > 0 ? `?${query}` : ''}#leagues`;
}

function explainEmpty({ filter: { search }, facets }: LeaguesView): Html {
  if (facets.statuses.length === 0) return html`<p class="muted">No leagues yet.</p>`;
  return html`<p class="muted">No leagues match${search === undefined ? '' : html` &ldquo;${bdi(search)}&rdquo;`}. <a href="/#leagues">Show all</a></p>`;
}

function renderTable({ leagues, page, total }: LeaguePage, now: number): Html {
  const first = (page - 1) * PAGE_SIZE + 1;
  return html`<table class="wide">
<caption>${countOf(total, 'league')}${total > PAGE_SIZE ? html`, ${count(first)} to ${count(first + leagues.length - 1)}, sorted by name` : ', sorted by name'}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Sport</th><th scope="col">Status</th><th scope="col">Place</th><th scope="col">Changed</th></tr></thead>
<tbody>${leagues.map(
    (league) => html`<tr>
<th scope="row">${linkToLeague(league.league_id, league.league_name)}</th>
<td>${bdi(league.sport)}</td>
<td>${league.removed_at === null ? html`<span class="tag ${league.status === 'active' ? 'good' : ''}">${bdi(league.status)}</span>` : html`<span class="tag removed">removed</span>`}</td>
<td>${bdi(league.place ?? '')}</td>
<td>${relativeTime(league.changed_at, now)}</td>
</tr>`,
  )}</tbody></table>`;
}

function renderPager({ filter, listing: { page, total } }: LeaguesView): Html | '' {
  const last = Math.ceil(total / PAGE_SIZE);
  if (last <= 1) return '';
  const link = (to: number, words: string): Html | '' =>
    to < 1 || to > last ? '' : html`<li><a href="${listPath(filter, to)}">${words}</a></li>`;
  return html`<nav aria-label="Pages of the list"><ul class="pages">${link(page - 1, '← Previous')}<li class="muted">page ${count(page)} of ${count(last)}</li>${link(page + 1, 'Next →')}</ul></nav>`;
}

function renderState(removedAt: string | null, heldSince: string | null, now: number): Html {
  if (removedAt !== null) return html`<span class="tag removed">removed</span> ${relativeTime(removedAt, now)}`;
  if (heldSince === null) return html`<span class="tag good">listed</span>`;
  return html`<span class="tag held">removal held</span> first held ${relativeTime(heldSince, now)}`;
}

export function renderLeague(id: string, details: LeagueDetails, history: readonly RecentChange[], now: number): Html {
  const { name, fields, first_seen_at, changed_at, removed_at, held_since } = details;
  return html`<section aria-labelledby="league-title" data-part="league"><h1 id="league-title">${bdi(name || id)}</h1>
<p>${renderState(removed_at, held_since, now)}
<span class="muted">first seen ${relativeTime(first_seen_at, now)}, changed ${relativeTime(changed_at, now)}</span></p>
<dl class="fields">${fields.map(
    ({ name: field, value }) =>
      html`<dt><code>${field}</code></dt><dd>${value.text === null ? html`<span class="muted">nothing</span>` : bdi(value.text, value.length)}</dd>`,
  )}</dl></section>
<section aria-labelledby="history-title" data-part="history"><h2 id="history-title">History</h2>${renderChangeList(history, now, false)}
${history.length === MAX_CHANGES ? html`<p class="muted">The newest ${MAX_CHANGES} changes; <code>league-sync changes --league ID --since 0</code> prints the whole history.</p>` : ''}</section>`;
}

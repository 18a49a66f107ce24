import { html } from 'hono/html';
import {
  type Facet,
  type Facets,
  type Filter,
  type LeaguePage,
  MAX_FACETS,
  SORTS,
  type Sort,
} from '../../store/queries/leagues.ts';
import { bdi, count, countOf, type Html, linkToLeague, pathWith, relativeTime, renderPager, visible } from './html.ts';

export const LEAGUES_A_PAGE = 50;
const MAX_CHOICES = 12;

export type Choice = Filter & { readonly sort: Sort };

export type LeaguesView = {
  readonly choice: Choice;
  readonly listing: LeaguePage;
  readonly facets: Facets;
  readonly held: number;
};

/** The leagues to search, filter and sort. */
export function renderLeagues(view: LeaguesView, now: number): Html {
  const { choice, facets, listing, held } = view;
  const statuses = held > 0 ? [...facets.statuses, { name: 'held', leagues: held }] : facets.statuses;
  const last = Math.ceil(listing.total / LEAGUES_A_PAGE);
  const pager = (label: string) => renderPager(listing.page, last, (page) => pathTo(choice, page), label);
  const sorts = SORTS.map((sort) => link({ ...choice, sort }, SORT_NAMES[sort], sort === choice.sort));
  return html`<section aria-labelledby="leagues-title" data-part="search"><div class="top"><h1 id="leagues-title">Leagues</h1></div>
<form action="leagues" method="get" role="search">
<label>Name, place or id <input type="search" name="q" value="${choice.search ?? ''}"></label>${(
    ['sport', 'status', 'sort'] as const
  ).map((name) => (choice[name] ? html`<input type="hidden" name="${name}" value="${choice[name]}">` : ''))}
<button type="submit">Search</button>
</form>
<nav aria-label="Statuses">${renderChoices('status', statuses, choice)}</nav>
<nav aria-label="Sports">${renderChoices('sport', facets.sports, choice)}</nav>
<nav aria-label="Order"><ul class="choices"><li class="name">Order</li>${sorts}</ul></nav></section>
<section aria-label="List of leagues" data-part="leagues">${listing.leagues.length === 0 ? explainEmpty(view) : html`${pager('Pages')}${renderTable(listing, choice, now)}${pager('Pages, below the list')}`}</section>`;
}

const SORT_NAMES: Readonly<Record<Sort, string>> = { name: 'name', changed: 'last changed', priority: 'priority' };

export function pathTo({ search, sport, status, sort }: Choice, page = 1): string {
  const values = { q: search, sport, status, sort: sort === 'name' ? undefined : sort };
  return pathWith('leagues', { ...values, page: page > 1 ? page : undefined });
}

function link(to: Choice, label: Html | string, isCurrent: boolean): Html {
  return html`<li><a href="${pathTo(to)}"${isCurrent ? html` aria-current="true"` : ''}>${label}</a></li>`;
}

/** Links to choose a sport or a status. The chosen one is always among those that are shown at once. */
function renderChoices(name: 'sport' | 'status', facets: readonly Facet[], choice: Choice): Html {
  const chosen = choice[name];
  const isChosen = (facet: Facet): boolean => facet.name === chosen;
  const first = facets.slice(0, MAX_CHOICES);
  if (chosen && !first.some(isChosen)) first.push(facets.find(isChosen) ?? { name: chosen, leagues: 0 });
  const rest = facets.filter((facet) => !first.includes(facet));
  const more = facets.length < MAX_FACETS ? `${count(rest.length)} more` : 'more';
  const toLink = (facet: Facet): Html => {
    const leagues = facet.leagues === 0 ? '' : html` <span class="muted">${count(facet.leagues)}</span>`;
    const label = html`${visible(facet.name, '(empty)')}${leagues}`;
    return link({ ...choice, [name]: facet.name }, label, isChosen(facet));
  };
  return html`<ul class="choices"><li class="name">${name === 'sport' ? 'Sport' : 'Status'}</li>${link({ ...choice, [name]: undefined }, name === 'sport' ? 'all sports' : 'all live', chosen === undefined)}${first.map(toLink)}${
    rest.length === 0 ? '' : html`<li><details><summary>${more}</summary><ul>${rest.map(toLink)}</ul></details></li>`
  }</ul>`;
}

function explainEmpty({ choice: { search }, facets }: LeaguesView): Html {
  if (facets.statuses.length === 0) return html`<p class="muted">No leagues yet.</p>`;
  return html`<p class="muted">No leagues match${search === undefined ? '' : html` &ldquo;${bdi(search)}&rdquo;`}. <a href="leagues">Show all</a></p>`;
}

function renderTable({ leagues, page, total }: LeaguePage, { sort, status }: Choice, now: number): Html {
  const first = (page - 1) * LEAGUES_A_PAGE + 1;
  const range = total > LEAGUES_A_PAGE ? `, ${count(first)} to ${count(first + leagues.length - 1)}` : '';
  return html`<table class="wide">
<caption>${countOf(total, 'league')}${range}, sorted by ${SORT_NAMES[sort]}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Sport</th><th scope="col">Status</th><th scope="col">Place</th><th scope="col">Priority</th><th scope="col">${status === 'held' ? 'Held' : 'Changed'}</th></tr></thead>
<tbody>${leagues.map(
    (league) => html`<tr>
<th scope="row">${linkToLeague(league.league_id, league.league_name)}</th>
<td>${shorten(league.sport)}</td>
<td>${league.removed_at === null ? html`<span class="tag ${league.status === 'active' ? 'good' : ''}">${shorten(league.status)}</span>${league.held_since ? html` <span class="tag held">held</span>` : ''}` : html`<span class="tag removed">removed</span>`}</td>
<td>${shorten(league.place ?? '')}</td>
<td class="priority">${shorten(league.priority)}</td>
<td>${status === 'held' && league.held_since ? html`held ${relativeTime(league.held_since, now, 'for')}` : relativeTime(league.changed_at, now)}</td>
</tr>`,
  )}</tbody></table>`;
}

const MAX_SHOWN = 60;

/** Long texts are cut; the page of the league has more of them. */
function shorten(text: string): Html | '' {
  if (text === '') return '';
  return text.length > MAX_SHOWN ? html`<bdi>${text.slice(0, MAX_SHOWN)}&hellip;</bdi>` : bdi(text);
}

import { html } from 'hono/html';
import type { Facets, Filter, LeaguePage, Sort } from '../../store/queries/leagues.ts';
import { plural } from '../../terminal/text.ts';
import type { State } from '../worker-state.ts';
import { glyphOf, monogram } from './face.ts';
import { bdi, count, type Html, linkToLeague, pathWith, relativeTime, renderLinks, renderSelect } from './html.ts';

export const LEAGUES_A_PAGE = 50;

export type Choice = Filter & { readonly sort: Sort };

export type LeaguesView = {
  readonly choice: Choice;
  readonly listing: LeaguePage;
  readonly facets: Facets;
  readonly held: number;
  /** How many removed leagues match if no live ones do. */
  readonly removed: number;
};

/** The leagues to search, filter and sort. */
export function renderLeagues(view: LeaguesView, { now, success }: Pick<State, 'now' | 'success'>): Html {
  const { choice, facets, listing } = view;
  const isEmpty = facets.statuses.length === 0;
  return html`<section aria-labelledby="leagues-title" data-part="search"><div class="line"><h1 id="leagues-title">Leagues</h1>${isEmpty ? '' : renderForm(view)}</div></section>
<section aria-label="List of leagues" data-part="leagues">${
    listing.leagues.length === 0
      ? html`<p class="muted">${explainNoMatch(view, success)}</p>`
      : html`<div class="top count"><p class="muted">${describeRange(listing)}${view.held > 0 && choice.status === undefined ? html` &middot; <a href="leagues?status=held">${count(view.held)} held</a>` : ''}</p>${renderPager(listing, choice, 'Pages')}</div>${renderTable(listing, choice, now)}${renderPager(listing, choice, 'Pages, below the list')}`
  }</section>`;
}

function renderForm({ choice, facets, held }: LeaguesView): Html {
  const statuses = held > 0 ? [...facets.statuses, { name: 'held', leagues: held }] : facets.statuses;
  return html`<form action="leagues" method="get" role="search"><input type="search" name="q" aria-label="Name, place or id" placeholder="Name, place or id" value="${choice.search ?? ''}">
${renderSelect('sport', facets.sports, choice.sport)}
${renderSelect('status', statuses, choice.status, 'all live')}
${choice.sort === USUAL_SORT ? '' : html`<input type="hidden" name="sort" value="${choice.sort}">`}<button type="submit">Search</button></form>`;
}

/** Links to the pages before and after this one, and to the first and the last. */
function renderPager({ page, total }: LeaguePage, choice: Choice, label: string): Html | '' {
  const last = Math.ceil(total / LEAGUES_A_PAGE);
  const link = (isThere: boolean, words: string, to: number) => isThere && ([words, pathTo(choice, to)] as const);
  return renderLinks(label, [
    link(page > 2, '⇤ First', 1),
    link(page > 1, '← Previous', page - 1),
    last > 1 && [`page ${count(page)} of ${count(last)}`],
    link(page < last, 'Next →', page + 1),
    link(page < last - 1, 'Last ⇥', last),
  ]);
}

/** Such as `51 to 100 of 124 leagues`. */
function describeRange({ leagues, page, total }: LeaguePage): string {
  const first = (page - 1) * LEAGUES_A_PAGE + 1;
  const range = `${count(first)} to ${count(first + leagues.length - 1)} of `;
  return `${total > LEAGUES_A_PAGE ? range : ''}${plural(total, 'league')}`;
}

/** Why there are no leagues at all. `success` is undefined before the first good poll. */
export const explainNone = (success: object | undefined): string =>
  success === undefined ? 'No leagues yet.' : 'The service lists no leagues.';

function explainNoMatch({ choice, removed }: LeaguesView, success: object | undefined): Html | string {
  const { search, sport, status } = choice;
  // All that there were may have been removed.
  if (!search && !sport && !status) return explainNone(success);
  const words = search === undefined ? '' : html` &ldquo;${bdi(search)}&rdquo;`;
  const link = html`<a href="${pathTo({ ...choice, status: 'removed' })}">${plural(removed, 'removed league')}</a>`;
  const found = removed > 0 ? html`No live leagues match${words}, but ${link}` : html`No leagues match${words}`;
  return html`${found}. <a href="leagues">Show all</a>`;
}

/** That of the service. */
export const USUAL_SORT: Sort = 'priority';

function pathTo({ search, sport, status, sort }: Choice, page = 1): string {
  const values = { q: search, sport, status, sort: sort === USUAL_SORT ? undefined : sort };
  return pathWith('leagues', { ...values, page: page > 1 ? page : undefined });
}

/** The columns, and by what a click on the head of one sorts. */
const COLUMNS: readonly (readonly [name: string, sort?: Sort])[] = [
  ['Name', 'name'],
  ['Sport', 'sport'],
  ['Status', 'status'],
  ['Place'],
  ['Priority', 'priority'],
  ['Changed', 'changed'],
];

function renderHead(choice: Choice): Html {
  return html`<tr>${COLUMNS.map(([name, sort]) => {
    if (sort === undefined) return html`<th scope="col">${name}</th>`;
    // No order is by the time for which a removal has been held.
    if (sort === 'changed' && choice.status === 'held') return html`<th scope="col">Held</th>`;
    const kind = sort === 'priority' ? html` class="number"` : '';
    const order = sort === 'changed' ? 'descending' : 'ascending';
    const sorted = sort === choice.sort ? html` aria-sort="${order}"` : '';
    return html`<th scope="col"${kind}${sorted}><a href="${pathTo({ ...choice, sort })}">${name}</a></th>`;
  })}</tr>`;
}

function renderTable({ leagues }: LeaguePage, choice: Choice, now: number): Html {
  return html`<table class="wide" aria-label="Leagues">
<thead>${renderHead(choice)}</thead>
<tbody>${leagues.map(
    (league) => html`<tr>
<th scope="row">${monogram(league.league_id, league.league_name)} ${linkToLeague(league.league_id, league.league_name)}</th>
<td>${glyphOf(league.sport)} ${shorten(league.sport)}</td>
<td>${league.removed_at === null ? html`<span class="tag ${league.status === 'active' ? 'good' : ''}">${shorten(league.status)}</span>${league.held_since ? html` <span class="tag held">held</span>` : ''}` : html`<span class="tag removed">removed</span>`}</td>
<td>${renderPlace(league)}</td>
<td class="priority number">${shorten(league.priority)}</td>
<td>${choice.status === 'held' && league.held_since ? html`held ${relativeTime(league.held_since, now, 'for')}` : relativeTime(league.changed_at, now)}</td>
</tr>`,
  )}</tbody></table>`;
}

/** City and state, each with its own direction of writing. */
export function renderPlace({ city, state }: Pick<LeaguePage['leagues'][number], 'city' | 'state'>): Html | '' {
  if (!city || !state) return shorten(city || state || '');
  return html`${shorten(city)}, ${shorten(state)}`;
}

const MAX_SHOWN = 60;

/** Long texts are cut; the page of the league has more of them. */
function shorten(text: string): Html | '' {
  if (text === '') return '';
  return text.length > MAX_SHOWN ? html`<bdi>${text.slice(0, MAX_SHOWN)}&hellip;</bdi>` : bdi(text);
}

import { html } from 'hono/html';
import { quoteForShell } from '../../store/database-file.ts';
import type { RecentChange } from '../../store/queries/changed-polls.ts';
import type { LeagueDetails } from '../../store/queries/leagues.ts';
import type { SeasonStep } from '../../store/queries/seasons.ts';
import { plural } from '../../terminal/text.ts';
import type { State } from '../worker-state.ts';
import { renderFields, renderSign } from './changes.ts';
import { monogram } from './face.ts';
import { bdi, type Html, moment, momentInText, pathWith, relativeTime, visible } from './html.ts';
import { renderPlace } from './leagues.ts';
import { describeSeason, isKnownForLong, renderBand } from './seasons.ts';

export const MAX_HISTORY = 100;
const MAX_FIELDS = 20;
const EMPTY = new Set(['', '[]', '{}']);
/** The first group has no title; what is in none is in `Other`. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  '': ['league_name', 'sport', 'status'],
  Identity: ['league_id', 'league_image', 'priority', 'city', 'state'],
  Season: ['active_season_type', 'active_year', 'active_poll', 'rankings', 'default_tournaments', 'default_markets'],
  'External ids': ['sport_db_id', 'external_id', 'external_odds_id'],
  Times: ['create_datetime', 'last_update_datetime'],
};

type Field = LeagueDetails['fields'][number];

export type LeagueView = {
  readonly details: LeagueDetails;
  readonly history: readonly RecentChange[];
  readonly steps: readonly SeasonStep[];
};

export function renderLeague(
  id: string,
  view: LeagueView,
  { now, splitCommands }: Pick<State, 'now' | 'splitCommands'>,
): Html {
  const { details, history, steps } = view;
  const { name, first_seen_at } = details;
  const sport = textOf(details, 'sport').slice(0, MAX_SPORT_LENGTH);
  const isWhole = history.length < MAX_HISTORY;
  const changes = `${isWhole ? '' : 'at least '}${plural(history.length, 'change')}`;
  return html`<section aria-labelledby="league-title" data-part="league"><nav aria-label="Path" class="path plain"><a href="leagues">Leagues</a> / <a href="${pathWith('leagues', { sport })}">${visible(sport, '(no sport)')}</a></nav>
<div class="head">${monogram(id, name || id, 52)}<div><h1 id="league-title">${bdi(name || id)}</h1><p>${renderHead(details, steps, now)}</p></div>
<p class="end muted">first seen ${momentInText(first_seen_at, now)}<br><a href="${pathWith('changes', { league: id })}">${changes}</a></p></div>${isKnownForLong(steps, now) ? renderBand(steps, now) : ''}</section>
<section class="half" aria-labelledby="fields-title" data-part="fields"><h2 id="fields-title">Fields</h2>${renderAllFields(details.fields)}</section>
<div class="half" data-part="history"><section aria-labelledby="history-title"><div class="top"><h2 id="history-title">History</h2></div>
<ol class="feed past">${history.map((change) => renderEntry(change, now))}</ol>
${isWhole ? '' : html`<p class="muted">The newest ${MAX_HISTORY} changes; <code>${splitCommands(`league-sync changes --league ${quoteForShell(id)} --since 0`).join('')}</code> prints the whole history.</p>`}</section>
<section aria-labelledby="sql-title"><h2 id="sql-title">In SQL</h2><p class="muted">Every version of this league:</p><code class="sql">SELECT * FROM league_versions WHERE league_id = '${id.replaceAll("'", "''")}' ORDER BY seq;</code></section></div>`;
}

/** As the list of leagues cuts it. */
const MAX_SPORT_LENGTH = 200;

const textOf = ({ fields }: LeagueDetails, wanted: string): string =>
  fields.find(({ name }) => name === wanted)?.value.text ?? '';

function renderHead(details: LeagueDetails, steps: readonly SeasonStep[], now: number): Html {
  const { removed_at, held_since } = details;
  const season = removed_at === null ? describeSeason(steps, now) : undefined;
  const texts = [textOf(details, 'sport'), removed_at === null ? textOf(details, 'status') : '', season ?? ''];
  const parts = texts.flatMap((text) => (text === '' ? [] : [bdi(text.slice(0, 200), text.length)]));
  const place = renderPlace({ city: textOf(details, 'city'), state: textOf(details, 'state') });
  return html`${renderListing(removed_at, held_since, now)} ${[...parts, ...(place === '' ? [] : [place])].map((part, index) => html`${index > 0 ? ' \u00b7 ' : ''}${part}`)}`;
}

function renderListing(removedAt: string | null, heldSince: string | null, now: number): Html {
  if (removedAt !== null)
    return html`<span class="tag removed">removed</span> ${momentInText(removedAt, now)} &middot;`;
  if (heldSince === null) return html`<span class="tag good">listed</span>`;
  return html`<span class="tag held">removal held</span> since ${momentInText(heldSince, now)} &middot;`;
}

function renderAllFields(fields: readonly Field[]): Html {
  const isEmpty = ({ value }: Field): boolean => value.text === null || EMPTY.has(value.text.replace(/\s/g, ''));
  const [filled, empty] = [fields.filter((field) => !isEmpty(field)), fields.filter(isEmpty)];
  const grouped = new Set(Object.values(GROUPS).flat());
  const groups = { ...GROUPS, Other: filled.map(({ name }) => name).filter((name) => !grouped.has(name)) };
  return html`${Object.entries(groups).map(([title, names]) => {
    const found = names.flatMap((wanted) => filled.filter(({ name }) => name === wanted));
    if (found.length === 0) return '';
    return html`${title === '' ? '' : html`<h3 class="group">${title}</h3>`}<dl class="fields">${found.map(renderField)}</dl>`;
  })}${empty.length === 0 ? '' : html`<details><summary>${empty.length} without a value</summary><dl class="fields">${empty.map(renderField)}</dl></details>`}`;
}

function renderField({ name, value }: Field): Html {
  return html`<dt><code>${name}</code></dt><dd>${renderValue(name, value)}</dd>`;
}

/** The address of the image is a link: nothing fetches it, so its host learns only of readers who click. */
function renderValue(name: string, { text, length }: Field['value']): Html {
  if (text === null) return html`<span class="muted">nothing</span>`;
  const isLink = name === 'league_image' && length === text.length && URL.parse(text)?.protocol === 'https:';
  if (!isLink) return bdi(text, length);
  return html`<a href="${text}" target="_blank" rel="noreferrer noopener">${bdi(text)}</a>`;
}

function renderEntry(change: RecentChange, now: number): Html {
  return html`<li class="is-${change.kind}" id="change-${change.seq}">${renderSign(change.kind)}<div><p>${moment(change.at, now)} <span class="muted">${relativeTime(change.at, now)} &middot; ${change.kind}</span></p>${renderFields(change, MAX_FIELDS)}</div></li>`;
}

import { html } from 'hono/html';
import { LEAGUE_MEMBERS } from '../../league/response-schemas.ts';
import {
  type DayCounts,
  type FeedSearch,
  type FieldChange,
  type Fold,
  KINDS,
  type Kind,
  type Line,
  type RecentChange,
} from '../../store/queries/changed-polls.ts';
import type { Facet } from '../../store/queries/leagues.ts';
import { plural } from '../../terminal/text.ts';
import { DAY_MS } from '../../time/duration.ts';
import type { State } from '../worker-state.ts';
import {
  bdi,
  count,
  type Html,
  linkToLeague,
  longNameOfDay,
  nameOfDay,
  pathWith,
  renderLinks,
  renderSelect,
  timeOnly,
  visible,
} from './html.ts';
import { describeKinds, renderYear, totalOf } from './year.ts';

export const CHANGES_A_PAGE = { maxChanges: 100, foldAbove: 20 };
const MAX_FIELDS = 6;
/** A year of which fewer days are known is not drawn. */
const WEEK_MS = 7 * DAY_MS;
export const FIELDS: readonly string[] = LEAGUE_MEMBERS.map(({ name }) => name);

export type ChangesView = {
  /** What is chosen, by the names in the address. */
  readonly choice: FeedSearch;
  /** The changes of each day of the last year. */
  readonly days: readonly DayCounts[];
  readonly sports: readonly Facet[];
  readonly leagueName: string | undefined;
  readonly lines: readonly Line[];
  /** Where the list goes on. */
  readonly next: number | undefined;
};

const pathTo = (choice: FeedSearch): string => pathWith('changes', choice);

export function renderChanges(view: ChangesView, state: Pick<State, 'now' | 'settings'>): Html {
  const { choice, days, lines, next } = view;
  const { now } = state;
  const { day, older, ...selected } = choice;
  const isSelected = Object.values(selected).some((value) => value !== undefined);
  const hasYear = days.some((counts) => Date.parse(counts.day) < now - WEEK_MS);
  const showAll = isSelected || day || older ? html` <a href="changes">Show all</a>` : '';
  const none = next === undefined ? 'No changes.' : 'No such change among the newest that were searched.';
  return html`<section aria-labelledby="changes-title" data-part="choice">${renderForm(view)}${hasYear ? renderYear(days, now, { chosen: day, pathTo: (chosen) => pathTo({ day: chosen, ...selected }) }) : ''}</section>
<section aria-label="List of changes" data-part="changes">${renderNeighbours(view, now)}${lines.length === 0 ? html`<p class="muted">${none}${showAll}</p>` : renderDays(lines, isSelected ? [] : days, { ...state, maxFields: MAX_FIELDS })}${renderLinks('Pages', [next !== undefined && ['Older \u2192', pathTo({ ...choice, older: next })]])}</section>`;
}

function renderForm({ choice, days, sports, leagueName }: ChangesView): Html {
  const { day, kind, sport, field, league } = choice;
  const total = days.reduce((sum, counts) => sum + totalOf(counts), 0);
  const names = sports.map(({ name }) => name);
  const selects = [
    renderSelect('kind', KINDS, kind),
    renderSelect('sport', names, sport),
    renderSelect('field', FIELDS, field),
  ];
  /** A choice that no field of the form makes, and the way out of it. */
  const chosen = (name: 'poll' | 'league', words: Html | string): Html | '' =>
    choice[name] === undefined
      ? ''
      : html`<input type="hidden" name="${name}" value="${choice[name]}"><a class="chosen" title="every ${name}" href="${pathTo({ ...choice, older: undefined, [name]: undefined })}">${words} <span aria-hidden="true">&times;</span></a>`;
  return html`<div class="line"><h1 id="changes-title">Changes</h1> <p class="muted end">${plural(total, 'change')} in a year</p>
<form action="changes" method="get">${selects}${chosen('poll', 'of one poll')}${chosen('league', visible(leagueName ?? league ?? '', '(no name)'))}
<input type="date" name="day" aria-label="Day (UTC)" value="${day ?? ''}"><button type="submit">Show</button></form></div>`;
}

/** Links to the last day with changes before the chosen one, and to the first one after it. */
function renderNeighbours({ choice, days }: ChangesView, now: number): Html | '' {
  const { day: chosen, older, ...selected } = choice;
  if (chosen === undefined) return '';
  const path = (day?: string): string => pathTo({ day, ...selected });
  const name = (day: string): string => nameOfDay(Date.parse(day), now);
  const earlier = days.findLast(({ day }) => day < chosen)?.day;
  const later = days.find(({ day }) => day > chosen)?.day;
  return renderLinks('Days', [
    earlier !== undefined && [`\u2039 ${name(earlier)}`, path(earlier)],
    ['all days', path()],
    later !== undefined && [`${name(later)} \u203a`, path(later)],
  ]);
}

type ListOptions = Pick<State, 'now' | 'settings'> & { readonly maxFields: number; readonly level?: 'h2' | 'h3' };

/** Each day under its name, with its counts where they are known. */
export function renderDays(lines: readonly Line[], days: readonly DayCounts[], options: ListOptions): Html {
  const { now, settings, maxFields, level = 'h2' } = options;
  // A schedule of six fields has seconds.
  const precise = settings.schedule.expression.trim().split(/\s+/).length > 5;
  return html`${[...Map.groupBy(lines, ({ at }) => at.slice(0, 10))].map(([day, found]) => {
    const counts = days.find((known) => known.day === day);
    const title = html`${longNameOfDay(day, now)} <span class="muted">${counts ? describeKinds(counts, ' \u00b7 ') : ''}</span>`;
    return html`${level === 'h2' ? html`<h2 class="day">${title}</h2>` : html`<h3 class="day">${title}</h3>`}
<ol class="feed">${found.map((line) => {
      const begin = html`${timeOnly(line.at, '', precise)}${renderSign(line.kind)}`;
      return 'examples' in line ? renderFold(line, begin) : renderChange(line, maxFields, begin);
    })}</ol>`;
  })}`;
}

const SIGNS: Readonly<Record<Kind, string>> = { added: '+', changed: '~', removed: '−', restored: '↺' };

/** Such as `124 changed: priority 120, status 4; NFL, NBA, MLB, 121 more`. */
function renderFold({ kind, poll, leagues, fields, examples }: Fold, begin: Html): Html {
  const names = examples.map(({ league_id, league_name }) => html`${linkToLeague(league_id, league_name)}, `);
  const what = fields.map(
    (found, index) => html`${index > 0 ? ', ' : ''}<code>${found.field}</code> ${count(found.leagues)}`,
  );
  const rest = `${count(leagues - examples.length)} more`;
  return html`<li class="is-${kind} fold">${begin}<p class="who plain">${count(leagues)} ${kind}: ${what.length === 0 ? '' : html`<span class="muted">${what};</span> `}${names}<a href="${pathTo({ poll, kind })}">${rest}</a></p></li>`;
}

function renderChange(change: RecentChange, maxFields: number, begin: Html): Html {
  const { seq, kind, league_id, league_name, sport } = change;
  return html`<li class="is-${kind}" id="change-${seq}">${begin}<p class="who plain">${linkToLeague(league_id, league_name)} <span class="muted">${bdi(sport ?? '')}${kind === 'changed' ? '' : ` ${kind}`}</span></p>${renderFields(change, maxFields)}</li>`;
}

export function renderSign(kind: Kind): Html {
  return html`<span class="glyph" role="img" aria-label="${kind}">${SIGNS[kind]}</span>`;
}

export function renderFields({ kind, fields }: RecentChange, maxFields: number): Html | '' {
  // A restored league always differs in `last_update_datetime`, often in nothing else.
  const isNews = kind === 'changed' || fields.some(({ field }) => field !== 'last_update_datetime');
  if (fields.length === 0 || !isNews) return '';
  const rest = fields.length - maxFields;
  return html`<dl class="diff">${fields.slice(0, maxFields).map(renderField)}</dl>${rest > 0 ? html`<p class="more muted">and ${count(rest)} more</p>` : ''}`;
}

function renderField({ field, old, now }: FieldChange): Html {
  return html`<dt><code>${field}</code></dt> <dd><del>${renderValue(old)}</del> &rarr; <ins>${renderValue(now)}</ins></dd>`;
}

function renderValue(text: string | null): Html {
  if (text === null) return html`<span class="muted">nothing</span>`;
  return text === '' ? html`<span class="muted">empty</span>` : bdi(text);
}

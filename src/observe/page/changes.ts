import { html } from 'hono/html';
import { LEAGUE_MEMBERS } from '../../league/schemas.ts';
import {
  type ChangedPoll,
  type ChangesPage,
  type DayCounts,
  type FeedSearch,
  type FieldChange,
  KINDS,
  type Kind,
  type PollView,
  type RecentChange,
} from '../../store/queries/changed-polls.ts';
import type { Facet } from '../../store/queries/leagues.ts';
import type { State } from '../worker-state.ts';
import {
  bdi,
  count,
  DAY_MS,
  type Html,
  linkToLeague,
  longNameOfDay,
  nameOfDay,
  pathWith,
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

/** What is chosen, as in the address; `olderThan` and `newerThan` are places in it. */
export type ChangesChoice = FeedSearch & { readonly newerThan?: number | undefined };

export type ChangesView = {
  readonly choice: ChangesChoice;
  /** The changes of each day of the last year. */
  readonly days: readonly DayCounts[];
  readonly sports: readonly Facet[];
  readonly leagueName: string | undefined;
  /** `next`: the change before which a search goes on. */
  readonly found: ChangesPage | { readonly changes: readonly RecentChange[]; readonly next: number | undefined };
};

const FROM_START = { olderThan: undefined, newerThan: undefined };

const pathTo = ({ olderThan, newerThan, ...values }: ChangesChoice): string =>
  pathWith('changes', { ...values, older: olderThan, newer: newerThan });

export function renderChanges(view: ChangesView, state: Pick<State, 'now' | 'settings'>): Html {
  const { choice, days, found } = view;
  const { now } = state;
  const { day, kind } = choice;
  const isChosen = Object.values(choice).some((value) => value !== undefined);
  const hasYear = days.some((counts) => Date.parse(counts.day) < now - WEEK_MS);
  const list = 'views' in found ? groupViews(found.views) : groupChanges(found.changes);
  const isCut = 'views' in found ? found.hasOlder : found.next !== undefined;
  const none = html`<p class="muted">${isCut ? 'No such change among the newest that were searched.' : 'No changes.'}${isChosen ? html` <a href="changes">Show all</a>` : ''}</p>`;
  return html`<section aria-labelledby="changes-title" data-part="choice">${renderForm(view)}${hasYear ? renderYear(days, now, { chosen: day, pathTo: (chosen) => pathTo({ ...choice, day: chosen, ...FROM_START }) }) : ''}</section>
<section aria-label="List of changes" data-part="changes">${renderNeighbours(view, now)}${list.length === 0 ? none : renderDays(list, new Map(isSearch(choice) || kind ? [] : days.map((counts) => [counts.day, counts])), { ...state, maxFields: MAX_FIELDS, isCut })}${renderTurns(view)}</section>`;
}

/** Whether the feed itself must be searched: `runs` knows only days and kinds. */
export const isSearch = ({ poll, sport, field, league }: ChangesChoice): boolean =>
  [poll, sport, field, league].some((value) => value !== undefined);

function renderForm({ choice, days, sports, leagueName }: ChangesView): Html {
  const { day, kind, poll, sport, field, league } = choice;
  const total = days.reduce((sum, counts) => sum + totalOf(counts), 0);
  const select = (name: string, values: readonly string[], chosen: string | undefined): Html =>
    renderSelect(
      name,
      `all ${name}s`,
      values.map((value) => ({ value })),
      chosen,
    );
  /** A choice that no field of the form makes, and the way out of it. */
  const chosen = (name: 'poll' | 'league', value: string | number | undefined, words: Html | string): Html | '' =>
    value === undefined
      ? ''
      : html`<input type="hidden" name="${name}" value="${value}"><a class="chosen" title="every ${name}" href="${pathTo({ ...choice, ...FROM_START, [name]: undefined })}">${words} <span aria-hidden="true">&times;</span></a>`;
  const selects = [
    select('kind', KINDS, kind),
    select(
      'sport',
      sports.map(({ name }) => name),
      sport,
    ),
    select('field', FIELDS, field),
  ];
  return html`<div class="line"><h1 id="changes-title">Changes</h1> <p class="muted end">${count(total)} in a year</p>
<form action="changes" method="get">${selects}${chosen('poll', poll, 'of one poll')}${chosen('league', league, visible(leagueName ?? league ?? '', '(no name)'))}
<input type="date" name="day" aria-label="Day (UTC)" value="${day ?? ''}"><button type="submit">Show</button></form></div>`;
}

/** Links to the last day with changes before the chosen one, and to the first one after it. */
function renderNeighbours({ choice, days }: ChangesView, now: number): Html | '' {
  const { day: chosen } = choice;
  if (chosen === undefined) return '';
  const link = (day: string | undefined, before: string, after = ''): Html | '' =>
    html`<li><a href="${pathTo({ ...choice, ...FROM_START, day })}">${before}${day === undefined ? 'all days' : nameOfDay(Date.parse(day), now)}${after}</a></li>`;
  const earlier = days.findLast(({ day }) => day < chosen)?.day;
  const later = days.find(({ day }) => day > chosen)?.day;
  return html`<nav aria-label="Days"><ul class="pages">${earlier && link(earlier, '\u2039 ')}${link(undefined, '')}${later && link(later, '', ' \u203a')}</ul></nav>`;
}

/** Links to what comes before and after on the list. */
function renderTurns({ choice, found }: ChangesView): Html | '' {
  const [older, newer] =
    'views' in found
      ? [found.hasOlder && found.views.at(-1)?.poll.id, found.hasNewer && found.views[0]?.poll.id]
      : [found.next, undefined];
  if (!older && !newer) return '';
  const link = (place: Pick<ChangesChoice, 'olderThan' | 'newerThan'>, words: string): Html =>
    html`<li><a href="${pathTo({ ...choice, ...FROM_START, ...place })}">${words}</a></li>`;
  return html`<nav aria-label="Pages"><ul class="pages">${newer ? link({ newerThan: newer }, '\u2190 Newer') : ''}${older ? link({ olderThan: older }, 'Older \u2192') : ''}</ul></nav>`;
}

/** A line of the list: a change, or all changes of one kind of a poll. */
type Line = { readonly at: string } & (
  | { readonly change: RecentChange }
  | { readonly poll: ChangedPoll; readonly fold: PollView['folded'][number] }
);

export const groupViews = (views: readonly PollView[]): readonly Line[] =>
  views.flatMap(({ poll, folded, changes }) => [
    ...folded.map((fold) => ({ at: poll.at, poll, fold })),
    ...changes.map((change) => ({ at: poll.at, change })),
  ]);

const groupChanges = (changes: readonly RecentChange[]): readonly Line[] =>
  changes.map((change) => ({ at: change.at, change }));

type ListOptions = Pick<State, 'now' | 'settings'> & {
  readonly maxFields: number;
  /** Whether the last day may have more than is shown. */
  readonly isCut: boolean;
};

/** Each day under its name, with its counts. */
export function renderDays(
  lines: readonly Line[],
  known: ReadonlyMap<string, Readonly<Partial<Record<Kind, number>>>>,
  { now, settings, maxFields, isCut }: ListOptions,
  level: 'h2' | 'h3' = 'h2',
): Html {
  const days = Map.groupBy(lines, ({ at }) => at.slice(0, 10));
  // A schedule of six fields has seconds.
  const precise = settings.schedule.expression.trim().split(/\s+/).length > 5;
  return html`${[...days].map(([day, found]) => {
    const isWhole = !isCut || known.has(day) || day !== lines.at(-1)?.at.slice(0, 10);
    const counts = isWhole ? describeKinds(known.get(day) ?? countKinds(found), ' \u00b7 ') : '';
    const title = html`${longNameOfDay(day, now)} <span class="muted">${counts}</span>`;
    return html`${level === 'h2' ? html`<h2 class="day">${title}</h2>` : html`<h3 class="day">${title}</h3>`}
<ol class="feed${precise ? ' precise' : ''}">${found.map((line) => {
      const time = timeOnly(line.at, '', precise);
      return 'change' in line ? renderChange(line.change, maxFields, time) : renderFold(line, time);
    })}</ol>`;
  })}`;
}

function countKinds(lines: readonly Line[]): Readonly<Partial<Record<Kind, number>>> {
  const counts: Partial<Record<Kind, number>> = {};
  for (const line of lines) {
    const [kind, times] = 'change' in line ? [line.change.kind, 1] : [line.fold.kind, line.poll[line.fold.kind]];
    counts[kind] = (counts[kind] ?? 0) + times;
  }
  return counts;
}

const SIGNS: Readonly<Record<Kind, string>> = { added: '+', changed: '~', removed: '−', restored: '↺' };

/** Such as `124 changed: priority 120, status 4; NFL, NBA, MLB, 121 more`. */
function renderFold({ poll, fold }: Extract<Line, { readonly poll: ChangedPoll }>, time: Html): Html {
  const { kind, fields = [], examples } = fold;
  const names = examples.map(({ league_id, league_name }) => html`${linkToLeague(league_id, league_name)}, `);
  const what = fields.map(
    ({ field, leagues }, index) => html`${index > 0 ? ', ' : ''}<code>${field}</code> ${count(leagues)}`,
  );
  const rest = `${count(poll[kind] - examples.length)} more`;
  return html`<li class="is-${kind} fold">${time}${renderSign(kind)}<p class="who plain">${count(poll[kind])} ${kind}: ${what.length === 0 ? '' : html`<span class="muted">${what};</span> `}${names}<a href="${pathTo({ poll: poll.id, kind })}">${rest}</a></p></li>`;
}

function renderChange(change: RecentChange, maxFields: number, time: Html): Html {
  const { seq, kind, league_id, league_name, sport } = change;
  return html`<li class="is-${kind}" id="change-${seq}">${time}${renderSign(kind)}<p class="who plain">${linkToLeague(league_id, league_name)} <span class="muted">${bdi(sport ?? '')}${kind === 'changed' ? '' : ` ${kind}`}</span></p>${renderFields(change, maxFields)}</li>`;
}

export function renderSign(kind: Kind): Html {
  return html`<span class="glyph" role="img" aria-label="${kind}">${SIGNS[kind]}</span>`;
}

export function renderFields({ kind, fields }: RecentChange, maxFields: number): Html | '' {
  // A removed or restored league always differs in `last_update_datetime`, often in nothing else.
  const isNews = kind === 'changed' || fields.some(({ field }) => field !== 'last_update_datetime');
  if (fields.length === 0 || !isNews) return '';
  const rest = fields.length - maxFields;
  return html`<dl class="diff">${fields.slice(0, maxFields).map(renderField)}</dl>${rest > 0 ? html`<p class="more muted">and ${count(rest)} more</p>` : ''}`;
}

function renderField({ field, old, now }: FieldChange): Html {
  return html`<dt><code>${field}</code></dt><dd><del>${renderValue(old)}</del> &rarr; <ins>${renderValue(now)}</ins></dd>`;
}

function renderValue(text: string | null): Html {
  if (text === null) return html`<span class="muted">nothing</span>`;
  return text === '' ? html`<span class="muted">empty</span>` : bdi(text);
}

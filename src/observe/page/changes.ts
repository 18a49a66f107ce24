import { html } from 'hono/html';
import {
  type ChangedPoll,
  type ChangesPage,
  type FieldChange,
  KINDS,
  type Kind,
  type PollFilter,
  type PollPage,
  type PollView,
  type RecentChange,
} from '../../store/queries/changed-polls.ts';
import { significantFields } from '../../store/queries/feed.ts';
import {
  bdi,
  count,
  type Html,
  linkToLeague,
  moment,
  momentInText,
  pathWith,
  relativeTime,
  renderPager,
} from './html.ts';

export const CHANGES_A_PAGE = { maxChanges: 100, foldAbove: 20 };
const MAX_FIELDS = 6;

export function renderChanges(filter: PollFilter, { views, hasOlder, hasNewer }: ChangesPage, now: number): Html {
  const { day, kind } = filter;
  const ids = { newer: views[0]?.poll.id, older: views.at(-1)?.poll.id };
  const link = (name: 'newer' | 'older', words: string): Html =>
    html`<li><a href="${pathWith('changes', { day, kind, [name]: ids[name] })}">${words}</a></li>`;
  const pager =
    hasOlder || hasNewer
      ? html`<nav aria-label="Pages"><ul class="pages">${hasNewer ? link('newer', '← Newer') : ''}${hasOlder ? link('older', 'Older →') : ''}</ul></nav>`
      : '';
  return html`<section aria-labelledby="changes-title" data-part="choice"><div class="top"><h1 id="changes-title">Changes${day === undefined ? '' : ` of ${day}`}</h1></div>
<form action="changes" method="get"><label>Day (UTC) <input type="date" name="day" value="${day ?? ''}"></label>${kind === undefined ? '' : html`<input type="hidden" name="kind" value="${kind}">`}<button type="submit">Show</button></form>
${renderKinds(day, kind)}</section>
<section aria-label="List of changes" data-part="changes"><div class="top"><h2>Newest first</h2></div>${renderChangedPolls(views, now, MAX_FIELDS)}${pager}</section>`;
}

function renderKinds(day: string | undefined, chosen: Kind | undefined): Html {
  const link = (kind: Kind | undefined): Html =>
    html`<li><a href="${pathWith('changes', { day, kind })}"${kind === chosen ? html` aria-current="true"` : ''}>${kind ?? 'all kinds'}</a></li>`;
  return html`<nav aria-label="Kinds"><ul class="choices">${[undefined, ...KINDS].map(link)}</ul></nav>`;
}

/** One kind of changes of one poll, a page at a time. */
export function renderPollPage({ poll, kind, page, last, changes }: PollPage, now: number): Html {
  return html`<section aria-labelledby="changes-title" data-part="changes"><div class="top"><h1 id="changes-title">${count(poll[kind])} ${kind}</h1>
<p class="muted">by the poll of ${momentInText(poll.at, now)}</p><p class="end plain"><a href="changes">All changes</a></p></div>
<ol class="feed">${changes.map((change) => renderChange(change, MAX_FIELDS))}</ol>${renderPager(page, last, (to) => pathToPoll(poll.id, kind, to))}</section>`;
}

const SIGNS: Readonly<Record<Kind, string>> = { added: '+', changed: '~', removed: '−', restored: '↺' };

export const pathToPoll = (id: number, kind: Kind, page = 1): string =>
  pathWith('changes', { poll: id, kind, page: page > 1 ? page : undefined });

/** The changes of each poll under its time. Of each change, at most `maxFields` fields are shown. */
export function renderChangedPolls(views: readonly PollView[], now: number, maxFields: number): Html {
  if (views.length === 0) return html`<p class="muted">No changes.</p>`;
  return html`${views.map(({ poll, changes, folded }) => {
    const counts = describeKinds(poll);
    return html`<h3 class="poll">${moment(poll.at, now)} <span class="muted">${relativeTime(poll.at, now)} &middot; ${counts}</span></h3>
<ol class="feed">${folded.map((fold) => renderFold(poll, fold))}${changes.map((change) => renderChange(change, maxFields))}</ol>`;
  })}`;
}

function renderFold(poll: ChangedPoll, { kind, examples }: PollView['folded'][number]): Html {
  const names = examples.map(({ league_id, league_name }) => html`${linkToLeague(league_id, league_name)}, `);
  const rest = `${count(poll[kind] - examples.length)} more`;
  return html`<li class="is-${kind}">${renderSign(kind)}<p class="who plain">${count(poll[kind])} ${kind}: ${names}<a href="${pathToPoll(poll.id, kind)}">${rest}</a></p></li>`;
}

/** Such as `1 added, 2 changed`. */
export function describeKinds(counts: Readonly<Partial<Record<Kind, number>>>): string {
  const parts = KINDS.filter((kind) => counts[kind]).map((kind) => `${count(counts[kind] ?? 0)} ${kind}`);
  return parts.join(', ') || 'no changes';
}

export function renderChange(change: RecentChange, maxFields: number): Html {
  const { seq, kind, league_id, league_name, sport } = change;
  return html`<li class="is-${kind}" id="change-${seq}">${renderSign(kind)}<div><p class="who plain">${linkToLeague(league_id, league_name)} <span class="muted">${bdi(sport ?? '')}${kind === 'changed' ? '' : ` ${kind}`}</span></p>${renderFields(change, maxFields)}</div></li>`;
}

export function renderSign(kind: Kind): Html {
  return html`<span class="glyph" role="img" aria-label="${kind}">${SIGNS[kind]}</span>`;
}

export function renderFields({ kind, fields }: RecentChange, maxFields: number): Html | '' {
  const shown = significantFields(fields);
  // A removed or restored league always differs in `last_update_datetime`, often in nothing else.
  const isNews = kind === 'changed' || shown.some(({ field }) => field !== 'last_update_datetime');
  if (shown.length === 0 || !isNews) return '';
  const rest = shown.length - maxFields;
  return html`<dl class="diff">${shown.slice(0, maxFields).map(renderField)}</dl>${rest > 0 ? html`<p class="muted">and ${count(rest)} more</p>` : ''}`;
}

function renderField({ field, old, now }: FieldChange): Html {
  return html`<dt><code>${field}</code></dt><dd><del>${renderValue(old)}</del> &rarr; <ins>${renderValue(now)}</ins></dd>`;
}

function renderValue(text: string | null): Html {
  if (text === null) return html`<span class="muted">nothing</span>`;
  return text === '' ? html`<span class="muted">empty</span>` : bdi(text);
}

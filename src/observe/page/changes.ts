import { html } from 'hono/html';
import {
  type ChangedPoll,
  hasPolls,
  KINDS,
  type Kind,
  type PollFilter,
  type RecentChange,
  readChanges,
  readPolls,
} from '../../store/queries/changed-polls.ts';
import type { Read } from '../monitor.ts';
import { type PollView, pathToPoll, renderChange, renderPolls } from './change-list.ts';
import { count, type Html, momentInText, pathWith } from './html.ts';

type Database = Parameters<Parameters<Read>[0]>[0];

export const PAGE_SIZE = 100;
/** If a poll has more changes of one kind than this, they are shown as one line. */
const FOLD_ABOVE = 20;
const MAX_FIELDS = 6;
/** How many leagues such a line names. */
const EXAMPLES = 3;

export type ChangesPage = {
  readonly views: readonly PollView[];
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
};

export function readChangesPage(db: Database, filter: PollFilter): ChangesPage {
  const views = readViews(db, filter, { maxChanges: PAGE_SIZE, foldAbove: FOLD_ABOVE });
  const [newest, oldest] = [views[0]?.poll.id, views.at(-1)?.poll.id];
  const { day, kind } = filter;
  const isAny = (beyond: PollFilter): boolean => hasPolls(db, { day, kind, ...beyond });
  return {
    views,
    hasOlder: oldest !== undefined && isAny({ olderThan: oldest }),
    hasNewer: newest !== undefined && isAny({ newerThan: newest }),
  };
}

/** Polls with their changes, except for kinds of which a poll has more than `foldAbove`. */
export function readViews(
  db: Database,
  filter: PollFilter,
  limits: { readonly maxChanges: number; readonly foldAbove: number },
): readonly PollView[] {
  return readPolls(db, filter, limits).map((poll): PollView => {
    const kinds = filter.kind ? [filter.kind] : KINDS.filter((kind) => poll[kind] > 0);
    const folded = kinds.filter((kind) => poll[kind] > limits.foldAbove);
    const open = kinds.filter((kind) => !folded.includes(kind));
    const read = (wanted: readonly Kind[], limit: number) => readChanges(db, { at: poll.at, kinds: wanted }, { limit });
    const limit = open.reduce((sum, kind) => sum + poll[kind], 0);
    return {
      poll,
      folded: folded.map((kind) => ({ kind, examples: read([kind], EXAMPLES) })),
      changes: limit === 0 ? [] : read(open, limit),
    };
  });
}

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
<section aria-label="List of changes" data-part="changes"><div class="top"><h2>Newest first</h2></div>${renderPolls(views, now, MAX_FIELDS)}${pager}</section>`;
}

function renderKinds(day: string | undefined, chosen: Kind | undefined): Html {
  const link = (kind: Kind | undefined): Html =>
    html`<li><a href="${pathWith('changes', { day, kind })}"${kind === chosen ? html` aria-current="true"` : ''}>${kind ?? 'all kinds'}</a></li>`;
  return html`<nav aria-label="Kinds"><ul class="choices">${[undefined, ...KINDS].map(link)}</ul></nav>`;
}

/** One kind of changes of one poll, a page at a time. */
export function renderPollPage(
  poll: ChangedPoll,
  kind: Kind,
  { page, changes }: { readonly page: number; readonly changes: readonly RecentChange[] },
  now: number,
): Html {
  const last = Math.ceil(poll[kind] / PAGE_SIZE);
  const link = (to: number, words: string): Html | '' =>
    to < 1 || to > last ? '' : html`<li><a href="${pathToPoll(poll.id, kind, to)}">${words}</a></li>`;
  const pager = html`<nav aria-label="Pages"><ul class="pages">${link(page - 1, '← Previous')}<li class="muted">page ${count(page)} of ${count(last)}</li>${link(page + 1, 'Next →')}</ul></nav>`;
  return html`<section aria-labelledby="changes-title" data-part="changes"><div class="top"><h1 id="changes-title">${count(poll[kind])} ${kind}</h1>
<p class="muted">by the poll of ${momentInText(poll.at, now)}</p><p class="end plain"><a href="changes">All changes</a></p></div>
<ol class="feed">${changes.map((change) => renderChange(change, MAX_FIELDS))}</ol>${last > 1 ? pager : ''}</section>`;
}

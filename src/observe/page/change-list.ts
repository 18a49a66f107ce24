import { html } from 'hono/html';
import type { ChangedPoll, FieldChange, Kind, RecentChange } from '../../store/queries/changed-polls.ts';
import { KINDS } from '../../store/queries/changed-polls.ts';
import { significantFields } from '../../store/queries/feed.ts';
import { bdi, count, type Html, linkToLeague, moment, pathWith, relativeTime } from './html.ts';

/** A poll with those of its changes that are shown; each kind in `folded` is one line. */
export type PollView = {
  readonly poll: ChangedPoll;
  readonly changes: readonly RecentChange[];
  readonly folded: readonly Fold[];
};

/** `examples` are the first of the changes. */
type Fold = { readonly kind: Kind; readonly examples: readonly RecentChange[] };

const SIGNS: Readonly<Record<Kind, string>> = { added: '+', changed: '~', removed: '−', restored: '↺' };

export const pathToPoll = (id: number, kind: Kind, page = 1): string =>
  pathWith('changes', { poll: id, kind, page: page > 1 ? page : undefined });

/** The changes of each poll under its time. Of each change, at most `maxFields` fields are shown. */
export function renderPolls(views: readonly PollView[], now: number, maxFields: number): Html {
  if (views.length === 0) return html`<p class="muted">No changes.</p>`;
  return html`${views.map(({ poll, changes, folded }) => {
    const counts = describeCounts(poll);
    return html`<h3 class="poll">${moment(poll.at, now)} <span class="muted">${relativeTime(poll.at, now)} &middot; ${counts}</span></h3>
<ol class="feed">${folded.map((fold) => renderFold(poll, fold))}${changes.map((change) => renderChange(change, maxFields))}</ol>`;
  })}`;
}

function renderFold(poll: ChangedPoll, { kind, examples }: Fold): Html {
  const names = examples.map(({ league_id, league_name }) => html`${linkToLeague(league_id, league_name)}, `);
  const rest = `${count(poll[kind] - examples.length)} more`;
  return html`<li class="is-${kind}">${renderSign(kind)}<p class="who plain">${count(poll[kind])} ${kind}: ${names}<a href="${pathToPoll(poll.id, kind)}">${rest}</a></p></li>`;
}

/** Such as `1 added, 2 changed`. */
export function describeCounts(counts: Readonly<Partial<Record<Kind, number>>>): string {
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
  // A league that left or came back always has another time of its last update, and often nothing else.
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

import { html } from 'hono/html';
import { type DayCounts, type FieldChange, type RecentChange, significantFields } from '../../store/queries/feed.ts';
import { bdi, count, countOf, type Html, linkToLeague, relativeTime } from './html.ts';

export const MAX_CHANGES = 100;
const MAX_FIELDS = 6;

export function renderChanges(day: string | undefined, changes: readonly RecentChange[], now: number): Html {
  const oldest = changes.at(-1)?.seq;
  const older = new URLSearchParams({ ...(day === undefined ? {} : { day }), before: String(oldest) });
  return html`<section aria-labelledby="changes-title" data-part="choice"><h1 id="changes-title">Changes${day === undefined ? '' : ` of ${day}`}</h1>
<form action="/changes" method="get"><label>Day (UTC) <input type="date" name="day" value="${day ?? ''}"></label><button type="submit">Show</button></form></section>
<section aria-label="List of changes" data-part="changes">${renderChangeList(changes, now)}
${changes.length === MAX_CHANGES ? html`<p><a href="/changes?${older}">Older changes</a></p>` : ''}</section>`;
}

/** `changes` are newest first. If `named` is true, each change shows the name of its league. */
export function renderChangeList(changes: readonly RecentChange[], now: number, named = true): Html {
  if (changes.length === 0) return html`<p class="muted">No changes.</p>`;
  return html`<ol class="feed">${changes.map(
    (change) => html`<li id="change-${change.seq}">
<span class="tag ${change.kind}">${change.kind}</span>
${named ? html`${linkToLeague(change.league_id, change.league_name)}` : ''}
<span class="muted">${relativeTime(change.at, now)}</span>${renderFields(change.fields)}</li>`,
  )}</ol>`;
}

function renderFields(fields: readonly FieldChange[]): Html | '' {
  const shown = significantFields(fields);
  if (shown.length === 0) return '';
  const rest = shown.length - MAX_FIELDS;
  return html`<p>${shown.slice(0, MAX_FIELDS).map(({ field, old, now }, index) => html`${index > 0 ? ' · ' : ''}<code>${field}</code> <del>${renderValue(old)}</del> &rarr; <ins>${renderValue(now)}</ins>`)}${rest > 0 ? ` · and ${rest} more` : ''}</p>`;
}

function renderValue(text: string | null): Html {
  if (text === null) return html`<span class="muted">nothing</span>`;
  return text === '' ? html`<span class="muted">empty</span>` : bdi(text);
}

const DAY_MS = 86_400_000;
const WEEKS = 53;
const CELL = 14;
const SQUARE = 12;
const LEFT = 30;
const TOP = 16;
/** The number of shades for days with changes. The scale is logarithmic: a first load has thousands of changes. */
const LEVELS = 4;
const KINDS = ['added', 'changed', 'removed', 'restored'] as const;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const WEEKDAYS = ['', 'Mon', '', 'Wed', '', 'Fri', ''];

/** The Sunday (ms) that the calendar starts with. */
export function firstDayShown(now: number): number {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  return today - (new Date(today).getUTCDay() + (WEEKS - 1) * 7) * DAY_MS;
}

export function renderYear(days: readonly DayCounts[], now: number): Html {
  const first = firstDayShown(now);
  const byName = new Map(days.map((day) => [day.day, day]));
  const most = Math.max(1, ...days.map(totalOf));
  const squares = Array.from({ length: Math.floor((now - first) / DAY_MS) + 1 }, (_, index) => {
    const name = new Date(first + index * DAY_MS).toISOString().slice(0, 10);
    const day = byName.get(name);
    const total = day === undefined ? 0 : totalOf(day);
    const level = total === 0 ? 0 : Math.max(1, Math.ceil((LEVELS * Math.log1p(total)) / Math.log1p(most)));
    const [x, y] = [LEFT + Math.floor(index / 7) * CELL, TOP + (index % 7) * CELL];
    return html`<rect class="heat-${level}" x="${x}" y="${y}" width="${SQUARE}" height="${SQUARE}" rx="2"><title>${name}: ${describeDay(day)}</title></rect>`;
  });
  const sum = days.reduce((total, day) => total + totalOf(day), 0);
  const summary = `${countOf(sum, 'change')} on ${countOf(days.length, 'day')} in the past year.`;
  const [width, height] = [LEFT + WEEKS * CELL, TOP + 7 * CELL];
  return html`<div class="scroll" tabindex="0" role="group" aria-label="A year of changes">
<svg class="year" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${summary}">${renderMonthNames(first)}${WEEKDAYS.map(
    (name, row) => (name === '' ? '' : html`<text x="0" y="${TOP + row * CELL + 10}">${name}</text>`),
  )}${squares}</svg></div>
<p class="muted">${summary}</p>`;
}

function describeDay(day: DayCounts | undefined): string {
  const kinds = KINDS.filter((kind) => day !== undefined && day[kind] > 0);
  return kinds.map((kind) => `${count(day?.[kind] ?? 0)} ${kind}`).join(', ') || 'no changes';
}

function renderMonthNames(first: number): readonly Html[] {
  const months = Array.from({ length: WEEKS }, (_, week) => new Date(first + week * 7 * DAY_MS).getUTCMonth());
  return months.flatMap((month, week) =>
    week > 0 && month !== months[week - 1]
      ? [html`<text x="${LEFT + week * CELL}" y="10">${MONTHS[month] ?? ''}</text>`]
      : [],
  );
}

const totalOf = ({ added, changed, removed, restored }: DayCounts) => added + changed + removed + restored;

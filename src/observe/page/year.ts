import { html } from 'hono/html';
import type { Day } from '../../store/queries/calendar.ts';
import { count, countOf, type Html } from './words.ts';

const DAY_MS = 86_400_000;
const WEEKS = 53;
const CELL = 14;
const SQUARE = 12;
const LEFT = 30;
const TOP = 16;
/** Quarters of the range, by the logarithm: a first load has thousands of changes, a common day a few. */
const LEVELS = 4;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const WEEKDAYS: readonly (readonly [number, string])[] = [
  [1, 'Mon'],
  [3, 'Wed'],
  [5, 'Fri'],
];

/** The first day (ms) that a calendar up to `now` shows: a Sunday. */
export function firstDayOf(now: number): number {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  return today - (new Date(today).getUTCDay() + (WEEKS - 1) * 7) * DAY_MS;
}

/** A year of changes: a column a week, a square a day, darker the more there were. */
export function drawYear(days: readonly Day[], now: number): Html {
  const totals = new Map(days.map((day) => [day.day, day]));
  const most = Math.max(1, ...days.map(totalOf));
  const first = firstDayOf(now);
  const squares: Html[] = [];
  for (let index = 0; first + index * DAY_MS <= now; index += 1) {
    squares.push(drawDay(dayName(first + index * DAY_MS), index, { totals, most }));
  }
  const sum = days.reduce((total, day) => total + totalOf(day), 0);
  const words = `${countOf(sum, 'change')} on ${countOf(days.length, 'day')} of the last year.`;
  const [width, height] = [LEFT + WEEKS * CELL, TOP + 7 * CELL];
  return html`<div class="scroll" tabindex="0" role="group" aria-label="A year of changes">
<svg class="year" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${words}">${monthNames(first)}${WEEKDAYS.map(
    ([row, name]) => html`<text x="0" y="${TOP + row * CELL + 10}">${name}</text>`,
  )}${squares}</svg></div>
<p class="muted">${words}</p>`;
}

type Totals = { readonly totals: ReadonlyMap<string, Day>; readonly most: number };

function drawDay(name: string, index: number, { totals, most }: Totals): Html {
  const day = totals.get(name);
  const total = day === undefined ? 0 : totalOf(day);
  const level = total === 0 ? 0 : Math.max(1, Math.ceil((LEVELS * Math.log1p(total)) / Math.log1p(most)));
  const [x, y] = [LEFT + Math.floor(index / 7) * CELL, TOP + (index % 7) * CELL];
  return html`<rect class="heat-${level}" x="${x}" y="${y}" width="${SQUARE}" height="${SQUARE}" rx="2"><title>${name}: ${describeDay(day)}</title></rect>`;
}

function describeDay(day: Day | undefined): string {
  if (day === undefined) return 'no changes';
  const kinds = ['added', 'changed', 'removed', 'restored'] as const;
  return kinds
    .filter((kind) => day[kind] > 0)
    .map((kind) => `${count(day[kind])} ${kind}`)
    .join(', ');
}

/** Above the week in which each month begins. */
function monthNames(first: number): readonly Html[] {
  const weeks = Array.from({ length: WEEKS }, (_, week) => new Date(first + week * 7 * DAY_MS));
  return weeks.flatMap((date, week) => {
    const isFirst = week > 0 && date.getUTCMonth() !== weeks[week - 1]?.getUTCMonth();
    return isFirst ? [html`<text x="${LEFT + week * CELL}" y="10">${MONTHS[date.getUTCMonth()] ?? ''}</text>`] : [];
  });
}

function dayName(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function totalOf({ added, changed, removed, restored }: Day): number {
  return added + changed + removed + restored;
}

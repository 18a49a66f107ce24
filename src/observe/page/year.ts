import { html } from 'hono/html';
import type { DayCounts } from '../../store/queries/changed-polls.ts';
import { describeKinds } from './changes.ts';
import { countOf, DAY_MS, dayOf, type Html, MONTHS } from './html.ts';

const WEEKS = 53;
const CELL = 19;
const SQUARE = 16;
const LEFT = 34;
const TOP = 18;
/** The least number of changes for each shade. Fixed, so that a first load of thousands does not pale all other days. */
const THRESHOLDS = [1, 2, 5, 13];
const WEEKDAYS = ['', 'Mon', '', 'Wed', '', 'Fri', ''];

/** The Sunday (ms) that the calendar starts with. */
export function firstDayShown(now: number): number {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  return today - (new Date(today).getUTCDay() + (WEEKS - 1) * 7) * DAY_MS;
}

/** A square for each day of the last year; a day with changes leads to them. */
export function renderYear(days: readonly DayCounts[], now: number): Html {
  const first = firstDayShown(now);
  const byName = new Map(days.map((day) => [day.day, day]));
  const squares = Array.from({ length: Math.floor((now - first) / DAY_MS) + 1 }, (_, index) => {
    const name = dayOf(first + index * DAY_MS);
    return renderDay(name, byName.get(name), index);
  });
  const sum = days.reduce((total, day) => total + totalOf(day), 0);
  const summary = sum === 0 ? 'no changes yet' : `${countOf(sum, 'change')} on ${countOf(days.length, 'day')}`;
  const [width, height] = [LEFT + WEEKS * CELL, TOP + 7 * CELL];
  return html`<div class="top"><h2 id="year-title">A year of changes</h2><p class="muted">${summary}</p>${renderKey()}</div>
<div class="scroll" tabindex="0" role="group" aria-label="A year of changes">
<svg class="chart year" viewBox="0 0 ${width} ${height}" role="group" aria-label="${summary}">${renderMonthNames(first)}${WEEKDAYS.map(
    (name, row) => (name === '' ? '' : html`<text x="0" y="${TOP + row * CELL + 12}">${name}</text>`),
  )}${squares}</svg></div>`;
}

/** The links cannot be reached by Tab, since there may be 370 of them; the form of `/changes` leads to the same days. */
function renderDay(name: string, day: DayCounts | undefined, index: number): Html {
  const total = day === undefined ? 0 : totalOf(day);
  const level = THRESHOLDS.filter((least) => total >= least).length;
  const [x, y] = [LEFT + Math.floor(index / 7) * CELL, TOP + (index % 7) * CELL];
  const square = html`<rect class="heat-${level}" x="${x}" y="${y}" width="${SQUARE}" height="${SQUARE}" rx="3"/>`;
  const title = html`<title>${name}: ${describeKinds(day ?? {})}</title>`;
  return total === 0
    ? html`<g>${title}${square}</g>`
    : html`<a href="changes?day=${name}" tabindex="-1">${title}${square}</a>`;
}

function renderKey(): Html {
  const swatch = (level: number): Html =>
    html`<svg width="12" height="12" aria-hidden="true"><rect class="heat-${level}" width="12" height="12" rx="3"/></svg>`;
  return html`<p class="key heat end"><span>less</span><span>${[0, ...THRESHOLDS].map((_, level) => swatch(level))}</span><span>more</span></p>`;
}

function renderMonthNames(first: number): readonly Html[] {
  const months = Array.from({ length: WEEKS }, (_, week) => new Date(first + week * 7 * DAY_MS).getUTCMonth());
  return months.flatMap((month, week) =>
    week > 0 && month !== months[week - 1]
      ? [html`<text x="${LEFT + week * CELL}" y="11">${MONTHS[month] ?? ''}</text>`]
      : [],
  );
}

const totalOf = ({ added, changed, removed, restored }: DayCounts) => added + changed + removed + restored;

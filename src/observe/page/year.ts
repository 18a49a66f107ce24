import { html } from 'hono/html';
import { type DayCounts, firstSunday, KINDS, type Kind, WEEKS } from '../../store/queries/changed-polls.ts';
import { plural } from '../../terminal/text.ts';
import { DAY_MS } from '../../time/duration.ts';
import { count, dayOf, type Html, MONTHS } from './html.ts';

/** Such as `3 changes: 1 added, 2 changed`. */
export function describeKinds(counts: Readonly<Record<Kind, number>>, separator = ', '): string {
  const parts = KINDS.filter((kind) => counts[kind] > 0).map((kind) => `${count(counts[kind])} ${kind}`);
  const total = parts.length > 1 ? `${plural(totalOf(counts), 'change')}: ` : '';
  return total + (parts.join(separator) || 'no changes');
}

export const totalOf = ({ added, changed, removed, restored }: Readonly<Record<Kind, number>>): number =>
  added + changed + removed + restored;

const [STEP_X, STEP_Y] = [21, 13];
const [CELL_X, CELL_Y] = [18, 10];
const LEFT = 34;
const TOP = 16;
/** The least number of changes for each shade. Fixed, so that a first load of thousands does not pale all other days. */
const THRESHOLDS = [1, 2, 5, 13];
const WEEKDAYS = ['', 'Mon', '', 'Wed', '', 'Fri', ''];

type DayLinks = { readonly chosen?: string | undefined; readonly pathTo: (day: string) => string };

/** A cell for each day of the last year; a day with changes leads to them, with what else is chosen. */
export function renderYear(days: readonly DayCounts[], now: number, links: DayLinks): Html {
  const first = firstSunday(now);
  const length = Math.floor((now - first) / DAY_MS) + 1;
  const place = (day: string): readonly [x: number, y: number] => {
    const index = Math.round((Date.parse(day) - first) / DAY_MS);
    return [LEFT + Math.floor(index / 7) * STEP_X, TOP + (index % 7) * STEP_Y];
  };
  const filled = new Set(days.map(({ day }) => day));
  const empty = Array.from({ length }, (_, index) => dayOf(first + index * DAY_MS)).filter((day) => !filled.has(day));
  const sum = days.reduce((total, day) => total + totalOf(day), 0);
  const summary = sum === 0 ? 'no changes yet' : `${plural(sum, 'change')} on ${plural(days.length, 'day')}`;
  const [width, height] = [LEFT + WEEKS * STEP_X, TOP + 7 * STEP_Y];
  return html`<div class="scroll" tabindex="0" role="group" aria-label="A year of changes">
<svg class="chart year" viewBox="0 0 ${width} ${height}" role="group" aria-label="${summary}">${renderMonthNames(first)}${WEEKDAYS.map(
    (name, row) => (name === '' ? '' : html`<text x="0" y="${TOP + row * STEP_Y + 9}">${name}</text>`),
  )}<path class="heat-0" d="${empty.map((day) => `M${place(day).join(' ')}h${CELL_X}v${CELL_Y}h-${CELL_X}z`).join('')}"/>${days.map((day) => renderCell(day, place(day.day), links))}</svg></div>`;
}

/** The links cannot be reached by Tab, since there may be 370 of them; the form beside them leads to the same days. */
function renderCell(day: DayCounts, [x, y]: readonly [x: number, y: number], { chosen, pathTo }: DayLinks): Html {
  const level = THRESHOLDS.filter((least) => totalOf(day) >= least).length;
  const isChosen = day.day === chosen ? html` aria-current="date"` : '';
  return html`<a href="${pathTo(day.day)}" tabindex="-1"${isChosen}><title>${day.day}: ${describeKinds(day)}</title><rect class="heat-${level}" x="${x}" y="${y}" width="${CELL_X}" height="${CELL_Y}" rx="2"/></a>`;
}

function renderMonthNames(first: number): readonly Html[] {
  const months = Array.from({ length: WEEKS }, (_, week) => new Date(first + week * 7 * DAY_MS).getUTCMonth());
  return months.flatMap((month, week) =>
    week > 0 && month !== months[week - 1]
      ? [html`<text x="${LEFT + week * STEP_X}" y="10">${MONTHS[month] ?? ''}</text>`]
      : [],
  );
}

import { html } from 'hono/html';
import type { DayCounts } from '../../store/queries/changed-polls.ts';
import type { FreshTime, Outage, Share } from '../../store/queries/fresh-time.ts';
import { formatDuration } from '../../time/duration.ts';
import { briefCause } from '../verdict.ts';
import { describeKinds } from './changes.ts';
import { bdi, count, countOf, DAY_MS, dayOf, HOUR_MS, type Html, MONTHS, moment, nameOfDay } from './html.ts';
import { HATCHED } from './poll-chart.ts';

const STEP = 12;
const BAR = 9;
const HEIGHT = 30;
/** A day that was not fresh throughout misses at least this much of its height, so that one can see it. */
const MIN_MISSING = 7;
const MAX_ERROR_LENGTH = 200;
const MAX_CAUSE_LENGTH = 40;

/** `98.3 %`; 100 % is only written if nothing is missing. */
export function formatShare(share: number): string {
  return share === 1 ? '100 %' : `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;
}

/** `24 h`, or less if no more is known yet. */
function nameOf({ name, knownMs }: FreshTime['shares'][number]): string {
  return name === '24 h' && knownMs < DAY_MS - HOUR_MS ? formatDuration(knownMs) : name;
}

/** A share is shown if more time is known of it than of the one before it. */
export function renderShares(shares: FreshTime['shares']): Html | '' {
  const shown = shares.filter(({ knownMs }, index) => knownMs > (shares[index - 1]?.knownMs ?? 0));
  if (shown.length === 0) return '';
  return html`<dl class="shares" aria-label="Share of the time in which the data was fresh">${shown.map((known) => {
    const [number = '', unit] = formatShare(known.share ?? 0).split(' ');
    return html`<div><dt>fresh ${nameOf(known)}</dt><dd>${number} <small>${unit}</small></dd></div>`;
  })}</dl>`;
}

/** A bar for each day: the higher, the more of the day the data was fresh; what is missing lies on top, hatched like failed polls. */
export function renderFreshDays(fresh: FreshTime | undefined, now: number): Html {
  if (fresh === undefined) return html`<p class="muted">The last 90 days are still being counted.</p>`;
  const { days, outages } = fresh;
  const first = days.find(({ share }) => share !== undefined);
  if (first === undefined) return html``;
  const known = days.flatMap(({ share }) => (share === undefined ? [] : [share]));
  const summary = `${countOf(known.length, 'day')}: ${known.filter((share) => share === 1).length} of them fresh throughout`;
  const width = days.length * STEP - STEP + BAR;
  return html`<div class="top sub"><h3>90 days</h3><p class="muted">share of each day in which the data was fresh</p></div>
<svg class="chart days" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${summary}">${days.map(
    ({ startsAt, share }, index) => renderDay(index * STEP, dayOf(startsAt), share),
  )}</svg>
<p class="ends"><span>${nameOfDay(days[0]?.startsAt ?? now, now)}</span> <span>Today</span></p>
${renderOutages(outages, now)}`;
}

function renderDay(x: number, day: string, share: Share): Html {
  if (share === undefined)
    return html`<rect class="none" x="${x}" y="${HEIGHT - 3}" width="${BAR}" height="3"><title>${day}: nothing known</title></rect>`;
  const missing = share === 1 ? 0 : Math.max(MIN_MISSING, (1 - share) * HEIGHT);
  const title = html`<title>${day}: fresh ${formatShare(share)} of the time</title>`;
  const bar = (fill: Html, y: number, height: number): Html =>
    html`<rect ${fill} x="${x}" y="${y.toFixed(1)}" width="${BAR}" height="${height.toFixed(1)}"/>`;
  const top = missing === 0 ? '' : bar(HATCHED, 0, Math.max(1, missing - 1.5));
  const rest = HEIGHT - missing;
  return html`<g>${title}${top}${rest < 0.5 ? '' : bar(html`class="fresh"`, missing, rest)}</g>`;
}

/** The one that goes on is left out: the top of the page is about it. */
function renderOutages(outages: readonly Outage[], now: number): Html | '' {
  const over = outages.filter(({ to }) => to !== undefined);
  if (over.length === 0) return '';
  return html`<table class="outages"><caption>Last outages</caption><thead><tr><th scope="col">When</th><th scope="col">Lasted</th><th scope="col">Stale</th><th scope="col">Polls</th><th scope="col">Why</th></tr></thead><tbody>${over.map(
    ({ from, to = now, failedPolls, error, staleMs }) =>
      html`<tr><td>${moment(from, now)}</td><td>${formatDuration(to - from)}</td><td>${staleMs < 1_000 ? 'no' : formatDuration(staleMs)}</td><td>${failedPolls === 0 ? 'none' : `${count(failedPolls)} failed`}</td><td>${error === null ? '' : html`<span title="${error.slice(0, MAX_ERROR_LENGTH)}">${briefCause(error) ?? bdi(error.slice(0, MAX_CAUSE_LENGTH), error.length)}</span>`}</td></tr>`,
  )}</tbody></table>`;
}

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
    return renderSquare(name, byName.get(name), index);
  });
  const sum = days.reduce((total, day) => total + totalOf(day), 0);
  const summary = sum === 0 ? 'no changes yet' : `${countOf(sum, 'change')} on ${countOf(days.length, 'day')}`;
  const [width, height] = [LEFT + WEEKS * CELL, TOP + 7 * CELL];
  return html`<div class="top"><h2 id="year-title">A year of changes</h2><p class="muted">${summary}</p>${renderShades()}</div>
<div class="scroll" tabindex="0" role="group" aria-label="A year of changes">
<svg class="chart year" viewBox="0 0 ${width} ${height}" role="group" aria-label="${summary}">${renderMonthNames(first)}${WEEKDAYS.map(
    (name, row) => (name === '' ? '' : html`<text x="0" y="${TOP + row * CELL + 12}">${name}</text>`),
  )}${squares}</svg></div>`;
}

/** The links cannot be reached by Tab, since there may be 370 of them; the form of `/changes` leads to the same days. */
function renderSquare(name: string, day: DayCounts | undefined, index: number): Html {
  const total = day === undefined ? 0 : totalOf(day);
  const level = THRESHOLDS.filter((least) => total >= least).length;
  const [x, y] = [LEFT + Math.floor(index / 7) * CELL, TOP + (index % 7) * CELL];
  const square = html`<rect class="heat-${level}" x="${x}" y="${y}" width="${SQUARE}" height="${SQUARE}" rx="3"/>`;
  const title = html`<title>${name}: ${describeKinds(day ?? {})}</title>`;
  return total === 0
    ? html`<g>${title}${square}</g>`
    : html`<a href="changes?day=${name}" tabindex="-1">${title}${square}</a>`;
}

function renderShades(): Html {
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

import { html } from 'hono/html';
import type { FreshTime, Outage, Share } from '../../store/queries/fresh-time.ts';
import { formatDuration } from '../../time/duration.ts';
import { briefCause } from '../verdict.ts';
import { bdi, count, countOf, DAY_MS, dayOf, HOUR_MS, type Html, moment, nameOfDay } from './html.ts';
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

import { html } from 'hono/html';
import type { FreshTime, Share } from '../../store/queries/fresh-time.ts';
import { plural } from '../../terminal/text.ts';
import { DAY_MS, formatDuration, HOUR_MS } from '../../time/duration.ts';
import { briefCause } from '../verdict.ts';
import { bdi, count, dayOf, type Html, moment } from './html.ts';
import { HATCH, HATCHED } from './poll-chart.ts';

const STEP = 12;
const BAR = 9;
const HEIGHT = 24;
/** A day that was not fresh throughout misses at least this much of its height, so that one can see it. */
const MIN_MISSING = 6;
const MAX_ERROR_LENGTH = 200;
const MAX_CAUSE_LENGTH = 40;

/** `98.3%`; 100% is only written if nothing is missing. */
export function formatShare(share: number): string {
  return share === 1 ? '100%' : `${(Math.floor(share * 1_000) / 10).toFixed(1)}%`;
}

/** `24 h`, or less if no more is known yet. */
function nameOf({ name, knownMs }: FreshTime['shares'][number]): string {
  return name === '24 h' && knownMs < DAY_MS - HOUR_MS ? formatDuration(knownMs) : name;
}

/** A share is shown if more time is known of it than of the one before it, and none in the first hour. */
export function renderShares(shares: FreshTime['shares']): Html | '' {
  const shown = shares.filter(({ knownMs }, index) => knownMs > (shares[index - 1]?.knownMs ?? HOUR_MS));
  if (shown.length === 0) return '';
  return html`<div class="shares"><p>Data was fresh</p><dl>${shown.map(
    (known) => html`<div><dt>last ${nameOf(known)}</dt><dd>${formatShare(known.share ?? 0)}</dd></div>`,
  )}</dl></div>`;
}

const MIN_DAYS = 2;

/** A bar for each day: the higher, the more of the day the data was fresh; what is missing lies on top, hatched like failed polls. */
export function renderFreshDays(fresh: FreshTime | undefined): Html | '' {
  const { days = [] } = fresh ?? {};
  const known = days.flatMap(({ share }) => (share === undefined ? [] : [share]));
  if (known.length < MIN_DAYS) return '';
  const summary = `Of the last ${days.length} days, ${plural(known.length, 'day')} known: ${known.filter((share) => share === 1).length} fresh throughout`;
  const width = days.length * STEP - STEP + BAR;
  return html`<div class="days"><svg class="chart" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${summary}">${HATCH}${days.map(
    ({ startsAt, share }, index) => renderDay(index * STEP, dayOf(startsAt), share),
  )}</svg><p class="ends"><span>90 days ago</span> <span>share of each day in which the data was fresh</span> <span>today</span></p></div>`;
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
export function renderOutages(fresh: FreshTime | undefined, now: number): Html | '' {
  const over = (fresh?.outages ?? []).flatMap(({ to, ...outage }) => (to === null ? [] : [{ ...outage, to }]));
  if (over.length === 0) return '';
  return html`<table class="outages"><caption>Last outages</caption><thead><tr><th scope="col">When</th><th scope="col">Lasted</th><th scope="col">Data</th><th scope="col">Polls</th><th scope="col">Why</th></tr></thead><tbody>${over.map(
    ({ from, to, failedPolls, error, staleMs }) =>
      html`<tr><td>${moment(from, now)}</td><td>${formatDuration(to - from)}</td><td>${staleMs < 1_000 ? 'not stale' : `stale ${formatDuration(staleMs)}`}</td><td>${count(failedPolls)} failed</td><td>${error === null ? '' : html`<span title="${error.slice(0, MAX_ERROR_LENGTH)}">${briefCause(error) ?? bdi(error.slice(0, MAX_CAUSE_LENGTH), error.length)}</span>`}</td></tr>`,
  )}</tbody></table>`;
}

import { html } from 'hono/html';
import type { RunSummary } from '../../store/queries/overview.ts';
import { describeCounts } from '../../sync/report.ts';
import { plural } from '../../terminal/text.ts';
import { formatTimestamp } from '../../time/clock.ts';
import { DAY_MS, formatDuration, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../time/duration.ts';
import type { Schedule } from '../../time/next-cron-time.ts';
import { count, type Html, MONTHS, momentInText, toSecond } from './html.ts';

const WIDTH = 1080;
const LEFT = 56;
const HEIGHT = 120;
/** The durations lie between these, the outcomes below. */
const TOP = 12;
const FLOOR = 72;
const OUTCOMES_FLOOR = 100;
const TALLEST = 18;

type Outcome = RunSummary['outcome'];

/** The outcomes differ in height and filling, so that people who see no colours can tell them apart. */
const OUTCOMES: Readonly<Record<Outcome, { readonly height: number; readonly name: string }>> = {
  unchanged: { height: 6, name: 'nothing new' },
  changed: { height: 12, name: 'changes' },
  held: { height: TALLEST, name: 'held' },
  failed: { height: TALLEST, name: 'failed' },
  interrupted: { height: TALLEST, name: 'interrupted' },
  running: { height: 6, name: 'running' },
};
const MIN_TOOK = 1.5;
const MAX_TICKS = 9;
/** A chart goes back for as many polls of the schedule at least. */
const MIN_STEPS = 3;
/** How many polls the schedule names in the time that the chart shows. */
const POLLS_SHOWN = 90;
/** How many polls to read: more than the schedule names, since some come at other times. */
export const MAX_POLLS = 120;
const MAX_SPAN_MS = 90 * DAY_MS;
const LISTED_POLLS = 30;
/** Of fewer polls, 5 % is less than one. */
const MIN_FOR_95 = 20;

/** The filling of failed polls. Each drawing has its own, since one that is not shown fills nothing. */
export const HATCH = html`<defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="failed" width="5" height="5"/><line class="hatch" y2="5"/></pattern></defs>`;

/** How failed polls are filled, and time in which the data was not fresh. */
export const HATCHED = html`fill="url(#hatch)"`;

/** For how long (ms) the chart goes back: the time in which the schedule names as many polls as it has room for. */
export function spanOf({ nextTime }: Pick<Schedule, 'nextTime'>, now: number): number {
  let time = now;
  // A search for the next time of a rare schedule takes long, so it ends as soon as the span is full.
  for (let found = 0; found < POLLS_SHOWN && time < now + MAX_SPAN_MS; found += 1) time = nextTime(time);
  return Math.min(time - now, MAX_SPAN_MS);
}

/** Draws each poll at its time: above how long it took, below what came of it. A time without polls stays empty. */
export function renderPolls(newestFirst: readonly RunSummary[], fullMs: number, now: number): Html {
  if (newestFirst.length === 0)
    return html`<div class="top"><h2 id="polls-title">Polls</h2></div><p class="muted">No poll yet.</p>`;
  // A chart of few polls is shorter, and still has round times at its ticks.
  // The clock may have been set back since a poll.
  const ageMs = Math.max(0, ...newestFirst.map(({ started_at }) => now - Date.parse(started_at)));
  const atLeastMs = Math.max((MIN_STEPS * fullMs) / POLLS_SHOWN, ageMs * 1.03);
  const tickMs = TIME_STEPS_MS.find((ms) => ms * MAX_TICKS > atLeastMs) ?? fullMs;
  const spanMs = Math.min(fullMs, tickMs * MAX_TICKS);
  // Moves on by whole steps, so that an open page need not draw the chart again while nothing happens.
  const step = spanMs / POLLS_SHOWN;
  const to = Math.ceil(now / step) * step;
  const from = to - spanMs;
  const ended = newestFirst.filter(({ finished_at }) => finished_at !== null);
  const good = ended.filter(({ outcome }) => outcome !== 'failed').map(durationMs);
  // Failed polls may have waited for long: they decide the axis only where there are no others.
  const took = good.length > 0 ? good : ended.map(durationMs);
  const longest = roundUp(1.3 * percentile(took, 0.95));
  const toX = (time: number): number => LEFT + ((WIDTH - LEFT) * (time - from)) / (to - from);
  const width = Math.max(2, Math.min(9, ((WIDTH - LEFT) / POLLS_SHOWN) * 0.75));
  const xOf = (poll: RunSummary): number => Math.min(WIDTH, toX(Date.parse(poll.started_at))) - width;
  const polls = newestFirst.filter((poll) => xOf(poll) >= LEFT).reverse();
  const [since] = polls.map(({ started_at }) => started_at).toSorted();
  const failed = polls.filter(({ outcome }) => outcome === 'failed').length;
  const summary = `The last ${plural(polls.length, 'poll')}: ${failed === 0 ? 'none' : count(failed)} failed`;
  const bars = polls.map((poll) => renderPoll(poll, { x: xOf(poll), width, longest }));
  return html`<div class="top"><h2 id="polls-title">Polls</h2><p class="muted">${since && html`${plural(polls.length, 'poll')} since ${momentInText(since, now)} &middot; `}${describeDurations(good)}</p>${renderKey(polls)}</div>
<div class="scroll" tabindex="0" role="group" aria-label="Polls by time"><svg class="chart polls" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${summary}">${HATCH}${took.length === 0 ? '' : renderScale(longest)}${timeTicks(from, to, MAX_TICKS).map(({ at, label }) => renderTick(toX(at), label))}${bars}</svg></div>${renderTable(newestFirst)}`;
}

function describeDurations(took: readonly number[]): string {
  if (took.length === 0) return '';
  const half = `half took at most ${formatDuration(percentile(took, 0.5))}`;
  return took.length < MIN_FOR_95 ? half : `${half}, all but 5 % at most ${formatDuration(percentile(took, 0.95))}`;
}

function renderScale(longest: number): Html {
  const line = (ms: number): Html => {
    const y = FLOOR - ((FLOOR - TOP) * ms) / longest;
    return html`<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${y}" y2="${y}"/><text class="to-end" x="${LEFT - 8}" y="${y + 4}">${ms === 0 ? '0' : formatDuration(ms)}</text> `;
  };
  return html`${[0, longest / 2, longest].map(line)}`;
}

function renderTick(x: number, label: string): Html {
  const half = label.length * 3;
  const at = Math.min(Math.max(x, LEFT + half), WIDTH - half).toFixed(1);
  return html`<line class="tick" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${OUTCOMES_FLOOR + 2}" y2="${OUTCOMES_FLOOR + 5}"/><text class="middle" x="${at}" y="${HEIGHT - 3}">${label}</text> `;
}

type Place = { readonly x: number; readonly width: number; readonly longest: number };

function renderPoll(poll: RunSummary, { x, width, longest }: Place): Html {
  const { outcome } = poll;
  const ms = durationMs(poll);
  const isOver = ms > longest && outcome !== 'failed';
  const took = outcome === 'running' ? 0 : Math.max(MIN_TOOK, (FLOOR - TOP) * Math.min(1, ms / longest));
  const { height } = OUTCOMES[outcome];
  const left = x.toFixed(1);
  const box = (y: number, high: number) =>
    html`x="${left}" y="${y.toFixed(1)}" width="${width.toFixed(1)}" height="${high.toFixed(1)}"`;
  return html`<g><title>${toSecond(poll.started_at)} UTC: ${describeOutcome(poll)} (${formatDuration(ms)})</title>${took === 0 ? '' : html`<rect ${outcome === 'failed' ? html`${HATCHED} opacity="0.5"` : html`class="took"`} ${box(FLOOR - took, took)}/>`}${
    isOver && took > 0
      ? html`<text class="over middle" x="${(x + width / 2).toFixed(1)}" y="${TOP - 3}">${formatDuration(ms)}</text>`
      : ''
  }<rect ${fillOf(outcome)} ${box(OUTCOMES_FLOOR - height, height)} rx="1.5"/></g>`;
}

function renderKey(polls: readonly RunSummary[]): Html {
  const shown = Object.entries(OUTCOMES).filter(([outcome]) => polls.some((poll) => poll.outcome === outcome));
  return html`<ul class="key end">${shown.map(
    ([outcome, { height, name }]) =>
      html`<li><svg width="9" height="${TALLEST}" aria-hidden="true"><rect ${fillOf(outcome)} y="${TALLEST - height}" width="9" height="${height}" rx="1.5"/></svg>${name}</li>`,
  )}</ul>`;
}

function fillOf(outcome: string): Html {
  return outcome === 'failed' ? HATCHED : html`class="${outcome}"`;
}

function renderTable(newestFirst: readonly RunSummary[]): Html {
  const row = (poll: RunSummary) =>
    html`<tr><td class="number">${count(poll.id)}</td><td><time title="${toSecond(poll.started_at)} UTC">${toSecond(poll.started_at)}</time></td><td class="number">${poll.finished_at === null ? '' : formatDuration(durationMs(poll))}</td><td>${describeOutcome(poll)}</td></tr>`;
  return html`<details><summary>Show as a table</summary><table>
<thead><tr><th scope="col">Run</th><th scope="col">Started (UTC)</th><th scope="col">Duration</th><th scope="col">Result</th></tr></thead>
<tbody>${newestFirst.slice(0, LISTED_POLLS).map(row)}</tbody></table></details>`;
}

function durationMs({ started_at, finished_at }: RunSummary): number {
  return finished_at === null ? 0 : Math.max(0, Date.parse(finished_at) - Date.parse(started_at));
}

function describeOutcome(poll: RunSummary): string {
  if (poll.outcome === 'failed') return `failed: ${poll.error_message ?? poll.error_kind ?? 'unknown'}`;
  if (poll.outcome === 'running') return poll.outcome;
  if (poll.outcome === 'interrupted') return `interrupted: ${poll.error_message ?? ''}`;
  return `${poll.outcome}: ${describeCounts(poll, poll.http_status)}`;
}

const TIME_STEPS_MS = [
  ...[1, 5, 10, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14].map((days) => days * DAY_MS),
];

/** The ticks of a time axis from `from` to `to` (ms): at round times (UTC), as many as fit, but not more than `most`. */
export function timeTicks(from: number, to: number, most: number) {
  const step = TIME_STEPS_MS.find((size) => (to - from) / size <= most) ?? 28 * DAY_MS;
  const ticks: { at: number; label: string }[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push({ at, label: labelOf(at, step) });
  return ticks;
}

function labelOf(at: number, step: number): string {
  const text = formatTimestamp(at);
  // A day begins with its date.
  if (at % DAY_MS === 0) return `${Number(text.slice(8, 10))} ${MONTHS[Number(text.slice(5, 7)) - 1]}`;
  return text.slice(11, step < MINUTE_MS ? 19 : 16);
}

const MIN_TOP_MS = 10;

/** The top of a duration axis (ms): a round number of at least `ms`, whose half is round as well. */
export function roundUp(ms: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(MIN_TOP_MS, ms)));
  return size * ([1, 2, 4, 6, 10].find((factor) => factor * size >= ms) ?? 10);
}

/** The value that this share (0 to 1) of the values do not exceed; 0 if there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

import { html } from 'hono/html';
import type { RunSummary } from '../../store/queries/overview.ts';
import { describeCounts } from '../../sync/report.ts';
import { formatDuration } from '../../time/duration.ts';
import { count, countOf, formatRelative, type Html, relativeTime } from './html.ts';

const HEIGHT = 80;
const STEP = 10;
const BAR = 8;
const MIN_HEIGHT = 6;
/** The maximum number of bars; more would be too narrow to tell apart. */
export const MAX_POLLS = 90;
/** With fewer bars, there is no room for two labels below the bars. */
const MIN_FOR_TWO_LABELS = 15;
const LISTED_POLLS = 15;

const OUTCOMES = ['changed', 'unchanged', 'held', 'failed', 'interrupted', 'running'];

/** Draws one bar per poll, oldest first. Longer polls have higher bars; a failed poll has full height. */
export function renderPolls(newestFirst: readonly RunSummary[], now: number): Html {
  const polls = newestFirst.toReversed();
  if (polls.length === 0) return html`<p class="muted">No poll yet.</p>`;
  const longest = Math.max(...polls.map(durationMs), 1);
  const empty = MAX_POLLS - polls.length;
  const bars = polls.map((poll, index) => {
    // The square root keeps one slow poll from flattening all others.
    const share = Math.sqrt(durationMs(poll) / longest);
    const height = poll.outcome === 'failed' ? HEIGHT : MIN_HEIGHT + share * (HEIGHT - MIN_HEIGHT);
    const [x, y] = [(empty + index) * STEP, HEIGHT - height];
    return html`<rect class="${poll.outcome}" x="${x}" y="${y.toFixed(1)}" width="${BAR}" height="${height.toFixed(1)}" rx="2"><title>${poll.started_at}: ${describeOutcome(poll)} (${formatDuration(durationMs(poll))})</title></rect>`;
  });
  const dashes = html`<line class="none" x1="0" y1="${HEIGHT - MIN_HEIGHT / 2}" x2="${empty * STEP}" y2="${HEIGHT - MIN_HEIGHT / 2}" stroke-width="${MIN_HEIGHT}" stroke-dasharray="${BAR} ${STEP - BAR}"/>`;
  const failed = polls.filter(({ outcome }) => outcome === 'failed').length;
  const summary = `The last ${countOf(polls.length, 'poll')}: ${failed === 0 ? 'none' : count(failed)} failed.`;
  const shown = OUTCOMES.filter((outcome) => polls.some((poll) => poll.outcome === outcome));
  return html`<svg class="polls" viewBox="0 0 ${MAX_POLLS * STEP} ${HEIGHT}" role="img" aria-label="${summary}">${empty === 0 ? '' : dashes}${bars}</svg>
${renderAxisLabels(polls, now)}
<ul class="key">${shown.map(
    (outcome) =>
      html`<li><svg class="swatch polls" width="12" height="12" aria-hidden="true"><rect class="${outcome}" width="12" height="12" rx="2"/></svg>${outcome}</li>`,
  )}<li>the height shows the duration; failed polls have full height</li></ul>${renderPollTable(newestFirst, now)}`;
}

/** The ages of the first and the last poll, in a separate SVG, because the SVG of the chart would scale the text. */
function renderAxisLabels(polls: readonly RunSummary[], now: number): Html {
  const begin = MAX_POLLS - polls.length;
  // If the first bar is in the right half, its label ends where the bar ends, so that the label fits.
  const [position, anchor] = begin > MAX_POLLS / 2 ? [begin + BAR / STEP, 'end'] : [begin, 'start'];
  const label = (share: number, side: string, at = ''): Html =>
    html`<text x="${(100 * share).toFixed(1)}%" y="14" text-anchor="${side}" data-age="ago" data-at="${at}">${formatRelative('ago', Date.parse(at), now)}</text>`;
  return html`<svg class="ends" width="100%" height="20" aria-hidden="true">${label(position / MAX_POLLS, anchor, polls[0]?.started_at)}${polls.length < MIN_FOR_TWO_LABELS ? '' : label(1, 'end', polls.at(-1)?.started_at)}</svg>`;
}

function renderPollTable(newestFirst: readonly RunSummary[], now: number): Html {
  const row = (poll: RunSummary) =>
    html`<tr><td class="number">${count(poll.id)}</td><td>${relativeTime(poll.started_at, now)}</td><td class="number">${poll.finished_at === null ? '' : formatDuration(durationMs(poll))}</td><td>${describeOutcome(poll)}</td></tr>`;
  return html`<details><summary>Show as a table</summary><table>
<thead><tr><th scope="col">Run</th><th scope="col">Started</th><th scope="col">Duration</th><th scope="col">Result</th></tr></thead>
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

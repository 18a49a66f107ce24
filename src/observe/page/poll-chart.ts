import { html } from 'hono/html';
import { formatDuration } from '../../duration.ts';
import type { RunSummary } from '../../store/queries/overview.ts';
import { describeCounts } from '../../sync/report.ts';
import { count, countOf, type Html, when, wordAge } from './html.ts';

const HEIGHT = 80;
const SLOT = 10;
const BAR = 8;
const LEAST = 6;
/** So many fit beside each other and are still told apart. */
export const MOST_POLLS = 90;
/** Fewer bars than this have no room under them for a label of the first and one of the last. */
const LEAST_FOR_TWO = 15;
const LISTED_POLLS = 15;

const MEANINGS: Readonly<Record<string, string>> = {
  changed: 'changed something',
  unchanged: 'found nothing new',
  held: 'held removals',
  failed: 'failed',
  interrupted: 'cut short',
  running: 'running now',
};

/** The last polls, oldest first: a bar each, as high as it took long; one that failed fills its place. */
export function drawPolls(newestFirst: readonly RunSummary[], now: number): Html {
  const polls = newestFirst.toReversed();
  if (polls.length === 0) return html`<p class="muted">No poll yet.</p>`;
  const longest = Math.max(...polls.map(durationMs), 1);
  const empty = MOST_POLLS - polls.length;
  const bars = polls.map((poll, index) => {
    // By the root, so that one slow poll does not flatten all others.
    const share = Math.sqrt(durationMs(poll) / longest);
    const height = poll.outcome === 'failed' ? HEIGHT : LEAST + share * (HEIGHT - LEAST);
    const [x, y] = [(empty + index) * SLOT, HEIGHT - height];
    return html`<rect class="${poll.outcome}" x="${x}" y="${y.toFixed(1)}" width="${BAR}" height="${height.toFixed(1)}" rx="2"><title>${poll.started_at}: ${describeOutcome(poll)} (${formatDuration(durationMs(poll))})</title></rect>`;
  });
  // The places of polls that have not been, before the first.
  const dashes = html`<line class="none" x1="0" y1="${HEIGHT - LEAST / 2}" x2="${empty * SLOT}" y2="${HEIGHT - LEAST / 2}" stroke-width="${LEAST}" stroke-dasharray="${BAR} ${SLOT - BAR}"/>`;
  const failed = polls.filter(({ outcome }) => outcome === 'failed').length;
  const words = `The last ${countOf(polls.length, 'poll')}: ${failed === 0 ? 'none' : count(failed)} failed.`;
  const shown = Object.entries(MEANINGS).filter(([outcome]) => polls.some((poll) => poll.outcome === outcome));
  return html`<svg class="polls" viewBox="0 0 ${MOST_POLLS * SLOT} ${HEIGHT}" role="img" aria-label="${words}">${empty === 0 ? '' : dashes}${bars}</svg>
${drawEnds(polls, now)}
<ul class="key">${shown.map(
    ([outcome, meaning]) =>
      html`<li><svg class="swatch polls" width="12" height="12" aria-hidden="true"><rect class="${outcome}" width="12" height="12" rx="2"/></svg>${meaning}</li>`,
  )}<li>a higher bar took longer; a failed poll fills its place</li></ul>${listPolls(newestFirst, now)}`;
}

/** When the first bar and the last one were, each under its bar. Not part of the picture, which shrinks its letters. */
function drawEnds(polls: readonly RunSummary[], now: number): Html {
  const begin = MOST_POLLS - polls.length;
  // A label that stands far to the right ends under its bar, where only empty places are before it.
  const [slot, anchor] = begin > MOST_POLLS / 2 ? [begin + BAR / SLOT, 'end'] : [begin, 'start'];
  const label = (share: number, side: string, at = ''): Html =>
    html`<text x="${(100 * share).toFixed(1)}%" y="14" text-anchor="${side}" data-age="ago" data-at="${at}">${wordAge('ago', Date.parse(at), now)}</text>`;
  return html`<svg class="ends" width="100%" height="20" aria-hidden="true">${label(slot / MOST_POLLS, anchor, polls[0]?.started_at)}${polls.length < LEAST_FOR_TWO ? '' : label(1, 'end', polls.at(-1)?.started_at)}</svg>`;
}

/** The picture's newest part in words. */
function listPolls(newestFirst: readonly RunSummary[], now: number): Html {
  const rows = newestFirst
    .slice(0, LISTED_POLLS)
    .map(
      (poll) =>
        html`<tr><td class="number">${count(poll.id)}</td><td>${when(poll.started_at, now)}</td><td class="number">${poll.finished_at === null ? '' : formatDuration(durationMs(poll))}</td><td>${describeOutcome(poll)}</td></tr>`,
    );
  return html`<details><summary>Show as a table</summary><table>
<thead><tr><th scope="col">Run</th><th scope="col">Started</th><th scope="col">Duration</th><th scope="col">Result</th></tr></thead>
<tbody>${rows}</tbody></table></details>`;
}

function durationMs({ started_at, finished_at }: RunSummary): number {
  return finished_at === null ? 0 : Math.max(0, Date.parse(finished_at) - Date.parse(started_at));
}

/** What a poll came to, in words. */
function describeOutcome(poll: RunSummary): string {
  if (poll.outcome === 'failed') return `failed: ${poll.error_message ?? poll.error_kind ?? 'unknown'}`;
  if (poll.outcome === 'running') return poll.outcome;
  if (poll.outcome === 'interrupted') return `interrupted: ${poll.error_message ?? ''}`;
  return `${poll.outcome}: ${describeCounts(poll, poll.http_status)}`;
}

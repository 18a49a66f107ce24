import { html } from 'hono/html';
import { formatDuration } from '../../duration.ts';
import type { Day } from '../../store/queries/calendar.ts';
import type { RunSummary } from '../../store/queries/overview.ts';
import type { RecentChange } from '../../store/queries/recent.ts';
import type { Monitor } from '../monitor.ts';
import { listChanges } from './feed.ts';
import { type LeaguesView, listLeagues } from './leagues.ts';
import { drawNotices, type Notices } from './notices.ts';
import { describeOutcome, drawPolls, durationMs } from './poll-chart.ts';
import { drawState } from './state.ts';
import type { Html } from './words.ts';
import { count, when } from './words.ts';
import { drawYear } from './year.ts';

/** What the database holds for the first page. */
export type Stored = {
  readonly polls: readonly RunSummary[];
  readonly days: readonly Day[];
  readonly recent: readonly RecentChange[];
  readonly notices: Notices;
  readonly leagues: LeaguesView;
};

const LISTED_POLLS = 15;

/** The first page: what the worker knows, and, if it could be read, what the database holds. */
export function drawHome(monitor: Monitor, stored: Stored | { readonly fault: string }, now: number): Html {
  const head = drawState(monitor, now);
  if ('fault' in stored) {
    const isSaid = monitor.verdict().reasons.some(({ message }) => message === stored.fault);
    return html`${head}${drawFault(isSaid ? undefined : stored.fault)}`;
  }
  const { polls, days, recent, notices, leagues } = stored;
  return html`${head}
<section aria-labelledby="polls-title" data-part="polls"><h2 id="polls-title">Polls</h2>${drawPolls(polls, now)}${listPolls(polls, now)}</section>
<section aria-labelledby="year-title" data-part="year"><h2 id="year-title">A year of changes</h2>${drawYear(days, now)}</section>
<div class="half" data-part="notices">${drawNotices(notices, { now, isEmpty: monitor.lastSuccess() === undefined })}</div>
<section class="half" aria-labelledby="recent-title" data-part="recent"><h2 id="recent-title">What changed last</h2>${listChanges(recent, now)}<p><a href="/changes">All changes</a></p></section>
${listLeagues(leagues, now)}`;
}

/** Why there is nothing to show of what the database holds; undefined if that is said already. */
export function drawFault(fault: string | undefined): Html {
  return html`<section aria-labelledby="fault-title" data-part="fault"><h2 id="fault-title">The database cannot be read</h2>
<p>${fault ?? 'Leagues, changes and polls are shown again as soon as it can be.'}</p></section>`;
}

/** The picture's newest part in words. */
function listPolls(polls: readonly RunSummary[], now: number): Html | '' {
  if (polls.length === 0) return '';
  return html`<details><summary>Show as a table</summary><table>
<thead><tr><th scope="col">Run</th><th scope="col">Started</th><th scope="col">Duration</th><th scope="col">Result</th></tr></thead>
<tbody>${polls
    .slice(0, LISTED_POLLS)
    .map(
      (poll) =>
        html`<tr><td class="number">${count(poll.id)}</td><td>${when(poll.started_at, now)}</td><td class="number">${poll.finished_at === null ? '' : formatDuration(durationMs(poll))}</td><td>${describeOutcome(poll)}</td></tr>`,
    )}</tbody></table></details>`;
}

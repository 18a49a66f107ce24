import { html } from 'hono/html';
import { formatDuration } from '../../duration.ts';
import type { Day } from '../../store/calendar.ts';
import type { RunSummary } from '../../store/overview.ts';
import type { RecentChange } from '../../store/recent.ts';
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

/** The first page: what the worker knows, and, where it could be read, what the database holds. */
export function drawHome(monitor: Monitor, stored: Stored | { readonly fault: string }, now: number): Html {
  const head = drawState(monitor, now);
  if ('fault' in stored) {
    return html`${head}${drawFault(stored.fault)}`;
  }
  return html`${head}
<section aria-labelledby="polls-title"><h2 id="polls-title">Polls</h2>${drawPolls(stored.polls, now)}${listPolls(stored.polls, now)}</section>
<section aria-labelledby="year-title"><h2 id="year-title">A year of changes</h2>${drawYear(stored.days, now)}</section>
<div class="columns">
<div>${drawNotices(stored.notices, now)}</div>
<section aria-labelledby="recent-title"><h2 id="recent-title">What changed last</h2>${listChanges(stored.recent, now)}<p><a href="/changes">All changes</a></p></section>
</div>
${listLeagues(stored.leagues, now)}`;
}

/** Why there is nothing to show of what the database holds. */
export function drawFault(fault: string): Html {
  return html`<section aria-labelledby="fault-title"><h2 id="fault-title">The database could not be read</h2><p>${fault}</p></section>`;
}

/** The picture's newest part in words. */
function listPolls(polls: readonly RunSummary[], now: number): Html | '' {
  if (polls.length === 0) return '';
  return html`<details><summary>The last polls in words</summary><table>
<thead><tr><th scope="col">Run</th><th scope="col">Began</th><th scope="col">Took</th><th scope="col">What came of it</th></tr></thead>
<tbody>${polls
    .slice(0, LISTED_POLLS)
    .map(
      (poll) =>
        html`<tr><td class="number">${count(poll.id)}</td><td>${when(poll.started_at, now)}</td><td class="number">${poll.finished_at === null ? '' : formatDuration(durationMs(poll))}</td><td>${describeOutcome(poll)}</td></tr>`,
    )}</tbody></table></details>`;
}

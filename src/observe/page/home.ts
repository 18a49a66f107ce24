import { html } from 'hono/html';
import { toRunError } from '../../errors.ts';
import type { SessionFailure } from '../../service/session-backoff.ts';
import { readDays, readViews } from '../../store/queries/changed-polls.ts';
import { createFreshTime } from '../../store/queries/fresh-time.ts';
import type { createFacetCounter, Facet, Facets } from '../../store/queries/leagues.ts';
import { readIssues } from '../../store/queries/open-problems.ts';
import { type Freshness, type OutputStatus, selectRuns } from '../../store/queries/overview.ts';
import { outputCondition } from '../verdict.ts';
import type { Read, State } from '../worker-state.ts';
import { firstDayShown, renderFreshDays, renderYear } from './calendar.ts';
import { renderChangedPolls } from './changes.ts';
import { bdi, count, countOf, type Html, MINUTE_MS, pathWith, relativeTime, visible } from './html.ts';
import { MAX_POLLS, renderPolls, spanOf } from './poll-chart.ts';
import { renderNotices, renderVerdict } from './verdict-card.ts';

/** About as high as the two cards beside them. */
const RECENT = { maxChanges: 5, foldAbove: 3 };
const MAX_FIELDS = 2;

type HomeData = ReturnType<ReturnType<typeof createReader>>;

export function createReader(read: Read, countFacets: ReturnType<typeof createFacetCounter>) {
  const readFreshTime = createFreshTime(read);
  let span = { minute: Number.NaN, ms: 0 };
  return ({ now, settings }: Pick<State, 'now' | 'settings'>) => {
    // A search for so many slots takes some 10 ms.
    const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS;
    if (minute !== span.minute) span = { minute, ms: spanOf(settings.schedule, minute) };
    try {
      return read((db) => ({
        spanMs: span.ms,
        polls: selectRuns(db, MAX_POLLS, 'leagues'),
        fresh: readFreshTime(db, now),
        days: readDays(db, new Date(firstDayShown(now)).toISOString()),
        recent: readViews(db, {}, RECENT),
        issues: readIssues(db),
        facets: countFacets(db),
      }));
    } catch (error) {
      return { error: toRunError(error).message };
    }
  };
}

export function renderHome(state: State, data: HomeData): Html {
  const { now, success, freshness } = state;
  if ('error' in data) {
    const isKnown = state.verdict.reasons.some(({ message }) => message === data.error);
    return html`${renderVerdict(state, undefined)}${renderError('h2', isKnown ? undefined : data.error)}
<div data-part="side">${renderWorker(state)}</div>`;
  }
  const { spanMs, polls, fresh, days, recent, issues, facets } = data;
  const counts = success && freshness;
  return html`${renderVerdict(state, { fresh, driftCount: issues.driftCount })}
${renderNotices(issues, now)}
<section aria-labelledby="polls-title" data-part="polls">${renderPolls(polls, spanMs, now)}${renderFreshDays(fresh, now)}</section>
<section class="major" aria-labelledby="recent-title" data-part="recent"><div class="top"><h2 id="recent-title">Latest changes</h2><p class="end plain"><a href="changes">All changes</a></p></div>${renderChangedPolls(recent, now, MAX_FIELDS)}</section>
<div class="minor" data-part="side">${renderLeaguesCard(facets, counts)}${renderWorker(state)}</div>
<section aria-labelledby="year-title" data-part="year">${renderYear(days, now)}</section>`;
}

/** `error` is undefined if another part of the page already shows it. */
export function renderError(level: 'h1' | 'h2', error: string | undefined): Html {
  const title = 'No leagues, changes or polls to show';
  const heading = level === 'h1' ? html`<h1 id="error-title">${title}</h1>` : html`<h2 id="error-title">${title}</h2>`;
  return html`<section aria-labelledby="error-title" data-part="error">${heading}
<p>${error ?? 'They appear as soon as the database can be read.'}</p></section>`;
}

const WIDTH = 300;
const MAX_SPORTS = 4;
const MAX_STATUSES = 4;

/** How many leagues are live, by status and in the most frequent sports; `counts` is undefined before the first poll. */
export function renderLeaguesCard({ sports, statuses }: Facets, counts: Freshness | undefined): Html {
  const { live_leagues: listed, removed_leagues: removed = 0 } = counts ?? {};
  const none = listed === undefined ? 'No leagues yet.' : 'The service lists none.';
  const listedBy = statuses.filter(({ name }) => name !== 'removed');
  return html`<section aria-labelledby="leagues-title"><div class="top"><h2 id="leagues-title">Leagues</h2>${!listed ? '' : html`<p class="end plain"><a href="leagues">All leagues</a></p>`}</div>
<p class="big">${count(listed ?? 0)} <small>live${removed === 0 ? '' : html` &middot; <a href="leagues?status=removed">${count(removed)} removed</a> (history kept)`}</small></p>
${!listed ? html`<p class="muted">${none}</p>` : html`${renderStatuses(listedBy)}${renderSports(sports)}`}</section>`;
}

function renderStatuses(statuses: readonly Facet[]): Html {
  const ordered = statuses.toSorted((one, other) => rank(one.name) - rank(other.name));
  const total = ordered.reduce((sum, { leagues }) => sum + leagues, 0);
  let x = 0;
  const parts = ordered.map(({ name, leagues }) => {
    const width = (WIDTH * leagues) / total;
    x += width;
    return html`<rect class="${rank(name) === 2 ? 'other' : name}" x="${(x - width).toFixed(1)}" width="${Math.max(1, width - 1.5).toFixed(1)}" height="8"/>`;
  });
  return html`<svg class="bar" viewBox="0 0 ${WIDTH} 8" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>
<p class="split plain">${ordered.slice(0, MAX_STATUSES).map(({ name, leagues }) => html`<span><a href="${pathWith('leagues', { status: name })}">${count(leagues)} ${visible(name, '(empty)')}</a></span>`)}</p>`;
}

const rank = (status: string): number => (status === 'active' ? 0 : status === 'inactive' ? 1 : 2);

function renderSports(sports: readonly Facet[]): Html {
  const most = sports[0]?.leagues ?? 1;
  return html`<table class="sports"><tbody>${sports.slice(0, MAX_SPORTS).map(
    ({
      name,
      leagues,
    }) => html`<tr><th scope="row"><a href="${pathWith('leagues', { sport: name })}">${visible(name, '(empty)')}</a></th>
<td><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${Math.max(1, (100 * leagues) / most).toFixed(1)}" height="8" rx="2"/></svg></td><td class="number">${count(leagues)}</td></tr>`,
  )}</tbody></table>`;
}

/** What the worker does, and with whom. */
export function renderWorker(state: State): Html {
  const { now, settings, startedAt, lastLogin: login, path, outputs } = state;
  const { schedule, scope } = settings;
  return html`<section aria-labelledby="worker-title"><div class="top"><h2 id="worker-title">Worker</h2></div>
<dl class="rows">
${row('Service', html`${settings.baseUrl}`)}${row(
  'Session',
  html`${renderSession(state)}${login === undefined ? '' : html`<small>last login ${relativeTime(login.at, now)}: ${login.outcome}</small>`}`,
)}${row('Schedule', html`<code>${schedule.expression}</code> <span class="muted">${schedule.timezone}, ${scope === 'all' ? 'all leagues' : `${scope} leagues`}</span>`)}${row(
  'Running',
  html`worker started ${relativeTime(startedAt, now)}`,
)}${row('Database', html`${path ?? settings.database}`)}${outputs.map((output) => renderOutput(output, now))}</dl></section>`;
}

function row(name: string, value: Html): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>
`;
}

function renderSession({ failure, token, now }: State): Html {
  if (failure !== undefined)
    return html`<span class="bad">${describeFailure(failure)}</span><small>next try ${relativeTime(failure.until, now, 'until')}</small>`;
  if (token === undefined) return html`no token`;
  const { isValid, leftMs } = token;
  if (!isValid) return html`<span class="bad">expired ${relativeTime(now + (leftMs ?? 0), now)}</span>`;
  if (leftMs === undefined) return html`logged in<small>expiry unknown</small>`;
  return html`logged in<small>token expires ${relativeTime(now + leftMs, now, 'until')}</small>`;
}

function describeFailure({ subject, error: { kind, httpStatus } }: SessionFailure): string {
  if (kind !== 'credentials') return 'login failed';
  if (httpStatus === undefined) return 'credentials unreadable';
  return subject === 'login' ? 'login refused' : `no access to ${subject}`;
}

function renderOutput(output: OutputStatus, now: number): Html {
  const { name, label, pending_changes: pending, done_at, last_error, next_attempt_at } = output;
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const done = done_at === null ? 'nothing yet' : html`last ${relativeTime(done_at, now)}`;
  const next = next_attempt_at && html`<small>next attempt ${relativeTime(next_attempt_at, now, 'until')}</small>`;
  const state = {
    stopped: html`<small class="bad">stopped: the receiver is gone (410)</small>`,
    failing: html`<small class="bad">${bdi(last_error ?? 'failing')}</small>${next ?? ''}`,
    noted: html`<small>${bdi(last_error ?? '')}</small>`,
    well: html`<small>${done}</small>`,
  }[outputCondition(output)];
  const what = pending === null ? html`${label}` : html`${countOf(pending, 'change')} pending<small>${label}</small>`;
  return row(title, html`${what}${state}`);
}

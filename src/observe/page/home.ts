import { html } from 'hono/html';
import { toRunError } from '../../errors.ts';
import type { SessionFailure } from '../../service/session-backoff.ts';
import { type createDayCounter, readLines } from '../../store/queries/changed-polls.ts';
import { createFreshTime } from '../../store/queries/fresh-time.ts';
import type { createFacetCounter, Facet, Facets, SportFacet } from '../../store/queries/leagues.ts';
import { readIssues } from '../../store/queries/open-problems.ts';
import { type Freshness, type OutputStatus, selectRuns } from '../../store/queries/overview.ts';
import { createSeasonReader } from '../../store/queries/seasons.ts';
import { plural } from '../../terminal/text.ts';
import { MINUTE_MS } from '../../time/duration.ts';
import { causeOf, outputCondition } from '../verdict.ts';
import type { Read, State } from '../worker-state.ts';
import { renderDays } from './changes.ts';
import { glyphOf } from './face.ts';
import { renderOutages } from './fresh-days.ts';
import { bdi, count, dayOf, dueTime, type Html, pathWith, relativeTime, visible } from './html.ts';
import { explainNone } from './leagues.ts';
import { MAX_POLLS, renderPolls, spanOf } from './poll-chart.ts';
import { bandSince, renderSeasons } from './seasons.ts';
import { renderNotices, renderVerdict } from './verdict-card.ts';

/** About as high as the two cards beside them. */
const RECENT = { maxChanges: 12, foldAbove: 8 };
const MAX_FIELDS = 2;
const FEW_LINES = 5;

type HomeData = ReturnType<ReturnType<typeof createReader>>;

type Counters = {
  readonly countFacets: ReturnType<typeof createFacetCounter>;
  readonly countDays: ReturnType<typeof createDayCounter>;
};

export function createReader(read: Read, { countFacets, countDays }: Counters) {
  const readFreshTime = createFreshTime(read);
  const readSeasonOverview = createSeasonReader();
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
        recent: readLines(db, {}, RECENT).lines,
        days: countDays(db, now),
        issues: readIssues(db),
        facets: countFacets(db),
        seasons: readSeasonOverview(db, dayOf(now), bandSince(now)),
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
    const known = state.readFault ? { ...state, freshness: undefined, attention: [], outputs: [] } : state;
    return html`${renderVerdict(known, undefined)}${renderError('h2', isKnown ? undefined : data.error)}
<div data-part="worker">${renderWorker(known)}</div>`;
  }
  const { spanMs, polls, fresh, recent, days, issues, facets, seasons } = data;
  const none = html`<p class="muted">No changes.</p>`;
  const changes = html`<section aria-labelledby="recent-title"><div class="top"><h2 id="recent-title">Latest changes</h2><p class="end plain"><a href="changes">All changes</a></p></div>${recent.length === 0 ? none : renderDays(recent, days, { ...state, maxFields: MAX_FIELDS, level: 'h3' })}</section>`;
  // Few changes are shorter than what is beside them.
  const isShort = recent.length <= FEW_LINES;
  return html`${renderVerdict(state, { fresh, driftCount: issues.driftCount })}
${renderNotices(issues, now)}
<div class="major" data-part="recent">${changes}${isShort ? renderWorker(state) : ''}</div>
<div class="minor" data-part="leagues">${renderLeaguesCard(facets, success && freshness)}</div>
${renderSeasons(seasons, now)}
<section aria-labelledby="polls-title" data-part="polls">${renderPolls(polls, spanMs, now)}${renderOutages(fresh, now)}</section>
${isShort ? '' : html`<div data-part="worker">${renderWorker(state)}</div>`}`;
}

/** `error` is undefined if another part of the page already shows it. */
export function renderError(level: 'h1' | 'h2', error: string | undefined): Html {
  const title = 'No leagues, changes or polls to show';
  const heading = level === 'h1' ? html`<h1 id="error-title">${title}</h1>` : html`<h2 id="error-title">${title}</h2>`;
  return html`<section aria-labelledby="error-title" data-part="error">${heading}
<p>${error ?? 'They appear as soon as the database can be read.'}</p></section>`;
}

const MAX_SPORTS = 8;
const MAX_STATUSES = 4;

/** How many leagues are live, by status and in the most frequent sports; `counts` is undefined before the first poll. */
export function renderLeaguesCard({ sports, statuses }: Facets, counts: Freshness | undefined): Html {
  const { live_leagues: listed, removed_leagues: removed = 0 } = counts ?? {};
  const listedBy = statuses.filter(({ name }) => name !== 'removed');
  return html`<section aria-labelledby="leagues-title"><div class="top"><h2 id="leagues-title">Leagues</h2>${!listed ? '' : html`<p class="end plain"><a href="leagues">All leagues</a></p>`}</div>
${listed === undefined ? '' : html`<p class="big">${count(listed)} <small>live${removed === 0 ? '' : html` &middot; <a href="leagues?status=removed">${count(removed)} removed</a> (history kept)`}</small></p>`}
${!listed ? html`<p class="muted">${explainNone(counts)}</p>` : html`${renderStatuses(listedBy)}${renderSports(sports)}`}</section>`;
}

function renderStatuses(statuses: readonly Facet[]): Html {
  const links = statuses
    .slice(0, MAX_STATUSES)
    .map(
      ({ name, leagues }) =>
        html`<span><a href="${pathWith('leagues', { status: name })}">${count(leagues)} ${visible(name, '(empty)')}</a></span> `,
    );
  return html`<p class="split plain">${links}</p>`;
}

/** How many of the listed leagues of a sport are active: a bar for all of them, and the active ones in it. */
function renderSports(sports: readonly SportFacet[]): Html {
  const most = sports[0]?.leagues ?? 1;
  const width = (leagues: number): string => ((100 * leagues) / most).toFixed(1);
  const rest = sports.length - MAX_SPORTS;
  const row = ({ name, leagues, active }: SportFacet): Html => {
    const bars = html`<rect width="${Math.max(1, Number(width(leagues)))}" height="8" rx="2"/><rect class="active" width="${width(active)}" height="8" rx="2"/>`;
    return html`<tr><th scope="row">${glyphOf(name)} <a href="${pathWith('leagues', { sport: name })}">${visible(name, '(empty)')}</a></th>
<td><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">${bars}</svg></td><td class="number">${active === leagues ? '' : `${count(active)} of `}${count(leagues)}</td></tr>`;
  };
  return html`<table class="sports"><caption>active of live, by sport</caption><tbody>${sports.slice(0, MAX_SPORTS).map(row)}</tbody></table>${rest > 0 ? html`<p class="plain more-sports"><a href="leagues">${count(rest)} more sports</a></p>` : ''}`;
}

/** What the worker does, and with whom. */
export function renderWorker(state: State): Html {
  const { now, settings, startedAt, lastLogin: login, path, outputs } = state;
  const { schedule, scope } = settings;
  const last = login && html` <small>last login ${relativeTime(login.at, now)}: ${login.outcome}</small>`;
  const rows = [
    row('Service', html`${settings.baseUrl}`),
    row('Session', html`${renderSession(state)}${last}`),
    row(
      'Schedule',
      html`<code>${schedule.expression}</code> <span class="muted">${schedule.timezone}, ${scope} leagues</span>`,
    ),
    row('Running', html`worker started ${relativeTime(startedAt, now)}`),
    row('Database', breakPath(path ?? settings.database)),
  ];
  return html`<section class="worker" aria-labelledby="worker-title"><div class="top"><h2 id="worker-title">Worker</h2></div>
<dl class="rows">${rows}${outputs.map((output) => renderOutput(output, now))}</dl></section>`;
}

/** A path that breaks after its slashes and not within names. */
const breakPath = (path: string): Html =>
  html`${path.split('/').map((part, index) => html`${index > 0 ? html`/<wbr>` : ''}${part}`)}`;

function row(name: string, value: Html): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>
`;
}

function renderSession({ failure, token, now }: State): Html {
  if (failure !== undefined && failure.subject !== 'profile')
    return html`<span class="bad">${describeFailure(failure)}</span> <small>next try at ${dueTime(failure.until, now)}</small>`;
  if (token === undefined) return html`no token`;
  const { isValid, leftMs } = token;
  if (!isValid) return html`<span class="bad">expired ${relativeTime(now + (leftMs ?? 0), now)}</span>`;
  if (leftMs === undefined) return html`logged in <small>expiry unknown</small>`;
  return html`logged in <small>token expires ${relativeTime(now + leftMs, now, 'until')}</small>`;
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
  const next = next_attempt_at && html` <small>next attempt at ${dueTime(next_attempt_at, now)}</small>`;
  const state = {
    stopped: html`<small class="bad">stopped: the receiver is gone (410)</small>`,
    failing: html`<small class="bad">${bdi(causeOf(output))}</small>${next ?? ''}`,
    noted: html`<small>${bdi(last_error ?? '')}</small>`,
    well: html`<small>${done}</small>`,
  }[outputCondition(output)];
  const what = pending === null ? html`${label}` : html`${plural(pending, 'change')} pending <small>${label}</small>`;
  return row(title, html`${what}${state}`);
}

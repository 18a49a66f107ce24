import { html } from 'hono/html';
import { toRunError } from '../../errors.ts';
import { readDays, readRecent } from '../../store/queries/feed.ts';
import { readIssues } from '../../store/queries/issues.ts';
import { createFacetCounter, listLeagues } from '../../store/queries/leagues.ts';
import { selectRuns } from '../../store/queries/overview.ts';
import { type HeldRemoval, selectHeldRemovals } from '../../store/tables/held-removals.ts';
import type { LiveState, Monitor, Read } from '../monitor.ts';
import type { Reason } from '../verdict.ts';
import { firstDayShown, renderChangeList, renderYear } from './changes.ts';
import { bdi, count, countOf, type Html, linkToLeague, relativeTime, timeOfDay } from './html.ts';
import { PAGE_SIZE, renderLeagues } from './leagues.ts';
import { MAX_POLLS, renderPolls } from './poll-chart.ts';
import { iconPath } from './style.ts';

const MAX_HELD = 10;
const MAX_RECENT = 12;
/** Limits search texts, since a search compares the text with every league. Real names are shorter than this. */
const MAX_SEARCH_LENGTH = 100;

type HomeData = ReturnType<ReturnType<typeof createReader>>;
type Issues = Exclude<HomeData, { error: string }>['issues'];

export function createReader(read: Read) {
  const countFacets = createFacetCounter();
  return (query: URLSearchParams, now: number) => {
    const filter = {
      search: query.get('q')?.slice(0, MAX_SEARCH_LENGTH) || undefined,
      sport: query.get('sport') || undefined,
      status: query.get('status') || undefined,
    };
    const page = parsePositive(query.get('page')) ?? 1;
    try {
      return read((db) => ({
        polls: selectRuns(db, MAX_POLLS, 'leagues'),
        days: readDays(db, new Date(firstDayShown(now)).toISOString()),
        recent: readRecent(db, {}, MAX_RECENT),
        issues: { ...readIssues(db), held: selectHeldRemovals(db) },
        leagues: { filter, facets: countFacets(db), listing: listLeagues(db, filter, page, PAGE_SIZE) },
      }));
    } catch (error) {
      return { error: toRunError(error).message };
    }
  };
}

/** Parses a positive integer of at most 15 digits; undefined for anything else. */
export function parsePositive(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

export function renderHome(monitor: Monitor, data: HomeData, now: number): Html {
  const head = html`${renderState(monitor, now)}
${renderTiles(monitor, now)}`;
  if ('error' in data) {
    const isKnown = monitor.verdict().reasons.some(({ message }) => message === data.error);
    return html`${head}${renderError(isKnown ? undefined : data.error)}`;
  }
  const { polls, days, recent, issues, leagues } = data;
  return html`${head}
<section aria-labelledby="polls-title" data-part="polls"><h2 id="polls-title">Polls</h2>${renderPolls(polls, now)}</section>
<section aria-labelledby="year-title" data-part="year"><h2 id="year-title">A year of changes</h2>${renderYear(days, now)}</section>
<div class="half" data-part="notices">${renderIssues(issues, monitor.lastSuccess() === undefined, now)}</div>
<section class="half" aria-labelledby="recent-title" data-part="recent"><h2 id="recent-title">Latest changes</h2>${renderChangeList(recent, now)}<p><a href="/changes">All changes</a></p></section>
${renderLeagues(leagues, now)}`;
}

/** `error` is undefined if another part of the page already shows it. */
export function renderError(error: string | undefined): Html {
  return html`<section aria-labelledby="error-title" data-part="error"><h2 id="error-title">No leagues, changes or polls to show</h2>
<p>${error ?? 'They appear as soon as the database can be read.'}</p></section>`;
}

function renderState(monitor: Monitor, now: number): Html {
  const { state, headline } = monitor.verdict();
  return html`<div class="state ${state}" id="state" data-part="state">
<img class="icon" src="${iconPath(state)}" alt="" width="44" height="44">
<div><h1>${headline}</h1>
<p class="facts">${renderFacts(monitor, now)}</p>
${renderAttention(monitor)}</div>
</div>`;
}

function renderFacts(monitor: Monitor, now: number): Html {
  if (monitor.path() === undefined) return html`opening the database`;
  const success = monitor.lastSuccess();
  const next = renderNextPoll(monitor, now);
  if (success === undefined) return html`no data yet &middot; ${next}`;
  const leagues = monitor.counts()?.live_leagues;
  // Shows `ageMs`, which also uses the monotonic clock: setting the clock back does not make the data look newer.
  return html`${leagues === undefined ? '' : `${countOf(leagues, 'league')} · `}data as of ${timeOfDay(success.at, now)} (${relativeTime(now - success.ageMs, now, 'old')}) &middot; ${next}`;
}

function renderNextPoll(monitor: Monitor, now: number): Html {
  const { running, pausedUntil = 0, refusal, isBlocked = false } = monitor.liveState() ?? {};
  const until = (at: number) => relativeTime(at, now, 'until');
  if (running !== undefined) return html`polling the ${running} now`;
  if (pausedUntil > now) return html`the service asked for a pause (Retry-After), which ends ${until(pausedUntil)}`;
  if (isBlocked && refusal !== undefined) return html`next try ${until(refusal.until)}`;
  return html`next poll ${until(monitor.settings.schedule.nextTime())}`;
}

/** The rows of `attention`, and what keeps the worker from being ready although the database has no row for it. */
function renderAttention(monitor: Monitor): Html {
  const rows = monitor.attention();
  const isStored = ({ reason }: Reason): boolean =>
    reason === 'no-good-poll' || reason === 'stale' || rows.some(({ what }) => what === reason);
  const others = monitor.verdict().reasons.filter((reason) => !isStored(reason));
  return html`${others.map(({ message }) => html`<p class="why">${message}</p>`)}
${rows.length > 0 ? html`<ul class="attention">${rows.map(({ summary, what_to_do }) => html`<li>${bdi(summary)} <span class="muted">${what_to_do}</span></li>`)}</ul>` : ''}`;
}

function renderTiles(monitor: Monitor, now: number): Html {
  const { settings, startedAt } = monitor;
  const { live_leagues, removed_leagues = 0 } = monitor.counts() ?? {};
  const hasData = live_leagues !== undefined && monitor.lastSuccess() !== undefined;
  const login = monitor.lastLogin;
  return html`<dl class="tiles" data-part="tiles">
<div><dt>Leagues listed</dt><dd>${hasData ? count(live_leagues) : '–'}<small>${removed_leagues === 0 ? '' : `${count(removed_leagues)} removed (history kept)`}</small></dd></div>
<div><dt>Session</dt>${renderSession(monitor.liveState() ?? {}, now)}${login === undefined ? '' : html`<dd><small>last login ${relativeTime(login.at, now)}: ${login.outcome}</small></dd>`}</div>
<div><dt>Schedule</dt><dd><code>${settings.schedule.expression}</code><small>${settings.schedule.timezone}, ${settings.scope === 'all' ? 'all leagues' : `${settings.scope} leagues`}</small></dd></div>
<div><dt>Service</dt><dd><small>${settings.baseUrl}</small><small>worker started ${relativeTime(startedAt, now)}</small></dd></div>
${renderWebhook(monitor, now)}</dl>`;
}

function renderWebhook(monitor: Monitor, now: number): Html | '' {
  const webhook = monitor.webhook();
  if (!webhook) return '';
  const {
    host,
    pending_changes: pending,
    accepted_at,
    failed_attempts,
    last_error,
    next_attempt_at,
    stopped_at,
  } = webhook;
  const next = next_attempt_at === null ? '' : html`; next attempt ${relativeTime(next_attempt_at, now, 'until')}`;
  const last = accepted_at === null ? 'nothing accepted yet' : html`last accepted ${relativeTime(accepted_at, now)}`;
  const state =
    stopped_at !== null
      ? 'stopped: the receiver is gone (410)'
      : failed_attempts > 0
        ? html`${last_error}${next}`
        : last;
  return html`<div><dt>Webhook</dt><dd>${countOf(pending, 'change')} pending<small>${host}</small><small>${state}</small></dd></div>
`;
}

function renderSession({ refusal, token }: Partial<LiveState>, now: number): Html {
  if (refusal !== undefined) {
    const refused = refusal.subject === 'login' ? 'login refused' : `no access to ${refusal.subject}`;
    const what = refusal.error.httpStatus === undefined ? 'credentials unreadable' : refused;
    return html`<dd class="bad">${what}<small>next try ${relativeTime(refusal.until, now, 'until')}</small></dd>`;
  }
  if (token === undefined) return html`<dd>no token</dd>`;
  const { isValid, leftMs } = token;
  if (!isValid) return html`<dd class="bad">expired ${relativeTime(now + (leftMs ?? 0), now)}</dd>`;
  if (leftMs === undefined) return html`<dd>logged in<small>expiry unknown</small></dd>`;
  return html`<dd>logged in<small>token expires ${relativeTime(now + leftMs, now, 'until')}</small></dd>`;
}

function renderIssues(issues: Issues, isEmpty: boolean, now: number): Html {
  const { held, openRejections, drift } = issues;
  if (held.length + openRejections + drift.length === 0) {
    return html`<section aria-labelledby="notices-title"><h2 id="notices-title">Nothing held or rejected</h2>
<p class="muted">${isEmpty ? 'Nothing has been stored yet.' : 'The last good poll stored everything it received; no removals are held.'}</p></section>`;
  }
  return html`${held.length > 0 ? renderHeldRemovals(issues, now) : ''}${openRejections > 0 ? renderRejections(issues, now) : ''}${drift.length > 0 ? renderDrift(issues, now) : ''}`;
}

function renderHeldRemovals({ held, unidentified }: Issues, now: number): Html {
  return html`<section aria-labelledby="held-title"><h2 id="held-title"><span class="tag held">held</span> ${countOf(held.length, 'removal')}</h2>
<p>${explainHeld(held, unidentified)} <span class="muted">First held ${relativeTime(held[0]?.held_since ?? now, now)}.</span></p>
<ul>${held.slice(0, MAX_HELD).map((row) => html`<li>${linkToLeague(row.league_id, row.league_name)}</li>`)}</ul>
${held.length > MAX_HELD ? html`<p class="muted">and ${count(held.length - MAX_HELD)} more; <code>league-sync accept-removals | cat</code> lists all and accepts nothing</p>` : ''}</section>`;
}

function explainHeld(held: readonly HeldRemoval[], unidentified: number): Html {
  const accepted = held.filter((row) => row.accepted_at !== null).length;
  if (unidentified > 0)
    return html`The last list has elements without a readable <code>league_id</code>, which might be any of these leagues. The removals are held until the service corrects this. Until then, accepting them has no effect.`;
  if (accepted > 0)
    return html`${count(accepted)} of these removals ${accepted === 1 ? 'is' : 'are'} accepted; the next poll applies ${accepted === 1 ? 'it' : 'them'}.`;
  return html`The service no longer lists ${held.length === 1 ? 'this league' : 'these leagues'}. Because the list was empty, or too many leagues disappeared at once, nothing is removed for now. If the leagues are really gone, run <code>league-sync accept-removals</code>. If a league is listed again, its removal is dropped.`;
}

function renderRejections({ rejections, openRejections: open }: Issues, now: number): Html {
  return html`<section aria-labelledby="rejected-title"><h2 id="rejected-title"><span class="tag bad">rejected</span> ${countOf(open, 'element')} of the last list</h2>
<p>These elements could not be stored; the stored rows of their leagues stay unchanged. Identical elements count once. Each one is kept in full in the table <code>rejected_leagues</code>, and marked as resolved once the service has corrected it.</p>
<ul>${rejections.map(
    ({ league_id, position, problem, problems, first_seen_at }) =>
      html`<li>${league_id === null ? html`<code>leagues[${position}]</code>` : html`<bdi>${league_id}</bdi>`}: ${bdi(problem ?? '')}${problems > 1 ? ` (and ${countOf(problems - 1, 'more problem')})` : ''} <span class="muted">first seen ${relativeTime(first_seen_at, now)}</span></li>`,
  )}</ul>
${open > rejections.length ? html`<p class="muted">and ${count(open - rejections.length)} more</p>` : ''}</section>`;
}

function renderDrift({ drift }: Issues, now: number): Html {
  return html`<section aria-labelledby="drift-title"><h2 id="drift-title"><span class="tag warn">drift</span> The service has departed from its interface</h2>
<p>Values of a league or player that fit no column are kept in <code>extra</code>; rejected elements are kept in full in <code>rejected_leagues</code>. Tell the operator of the service, or adapt the programs that read the database.</p>
<ul>${drift.map(({ field, kind, detail, first_seen_at }) => html`<li><code>${field}</code> ${kind}${detail === null || detail === '' ? '' : html`: ${detail}`} <span class="muted">first seen ${relativeTime(first_seen_at, now)}</span></li>`)}</ul></section>`;
}

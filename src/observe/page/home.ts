import { html } from 'hono/html';
import { formatAge } from '../../duration.ts';
import type { HeldRemoval } from '../../store/tables/held-removals.ts';
import { isValid, type Monitor, type Present, type Success } from '../monitor.ts';
import { drawYear, listChanges } from './changes.ts';
import type { HomeData } from './data.ts';
import { bdi, count, countOf, type Html, linkToLeague, timeOfDay, when } from './html.ts';
import { listLeagues } from './leagues.ts';
import { drawPolls } from './poll-chart.ts';
import { iconPath } from './style.ts';

const MOST_HELD = 10;

type Issues = Exclude<HomeData, { fault: string }>['issues'];

/** The first page: what the worker knows, and, if it could be read, what the database holds. */
export function drawHome(monitor: Monitor, data: HomeData, now: number): Html {
  const head = html`${drawState(monitor, now)}
${drawTiles(monitor, now)}`;
  if ('fault' in data) {
    const isSaid = monitor.verdict().reasons.some(({ message }) => message === data.fault);
    return html`${head}${drawFault(isSaid ? undefined : data.fault)}`;
  }
  const { polls, days, recent, issues, leagues } = data;
  return html`${head}
<section aria-labelledby="polls-title" data-part="polls"><h2 id="polls-title">Polls</h2>${drawPolls(polls, now)}</section>
<section aria-labelledby="year-title" data-part="year"><h2 id="year-title">A year of changes</h2>${drawYear(days, now)}</section>
<div class="half" data-part="notices">${drawIssues(issues, monitor.lastSuccess() === undefined, now)}</div>
<section class="half" aria-labelledby="recent-title" data-part="recent"><h2 id="recent-title">What changed last</h2>${listChanges(recent, now)}<p><a href="/changes">All changes</a></p></section>
${listLeagues(leagues, now)}`;
}

/** Why there is nothing to show of what the database holds; undefined if that is said already. */
export function drawFault(fault: string | undefined): Html {
  return html`<section aria-labelledby="fault-title" data-part="fault"><h2 id="fault-title">The database cannot be read</h2>
<p>${fault ?? 'Leagues, changes and polls are shown again as soon as it can be.'}</p></section>`;
}

/** Whether the data is fresh and the session is fine, in words that can be read across a room. */
function drawState(monitor: Monitor, now: number): Html {
  const { state, headline } = monitor.verdict();
  const success = monitor.lastSuccess();
  return html`<div class="state ${state}" id="state" data-part="state">
<img class="icon" src="${iconPath(state)}" alt="" width="44" height="44">
<div><h1>${growAge(headline, success, now)}</h1>
<p class="facts">${drawFacts(monitor, now)}</p>
${explain(monitor).map((text) => html`<p class="why">${growAge(text, success, now)}</p>`)}
${linkIssues(monitor)}</div>
</div>`;
}

/** A sentence of the verdict, in which the age of the data grows while the page is open. */
function growAge(text: string, success: Success | undefined, now: number): Html | string {
  if (success === undefined) return text;
  const age = formatAge(success.ageMs);
  const at = text.indexOf(age);
  return at < 0 ? text : html`${text.slice(0, at)}${when(now - success.ageMs, now)}${text.slice(at + age.length)}`;
}

/** What there is, how old it is, and when more comes. */
function drawFacts(monitor: Monitor, now: number): Html {
  const success = monitor.lastSuccess();
  const next = drawNext(monitor, now);
  if (success === undefined) return html`no data yet · ${next}`;
  const leagues = monitor.counts()?.live_leagues;
  // Its age is that of the monotonic clock: a wall clock that was set back makes nothing young.
  return html`${leagues === undefined ? '' : `${countOf(leagues, 'league')} · `}data as of ${timeOfDay(success.at, now)} (${when(now - success.ageMs, now, 'old')}) · ${next}`;
}

function drawNext(monitor: Monitor, now: number): Html {
  const { running, pausedUntil = 0, refusal } = monitor.present() ?? {};
  const until = (at: number) => when(at, now, 'until');
  if (running !== undefined) return html`polling the ${running} now`;
  if (pausedUntil > now) return html`the service asked for a pause (Retry-After), next poll ${until(pausedUntil)}`;
  if (refusal !== undefined && refusal.until > now)
    return html`the credentials are tried again ${until(refusal.until)}`;
  return html`next poll ${until(monitor.settings.schedule.nextSlot())}`;
}

/** Why it is not simply good. */
function explain(monitor: Monitor): readonly string[] {
  const { ready, reasons } = monitor.verdict();
  const failures = monitor.consecutiveFailures() ?? 0;
  const cause = monitor.lastError();
  if (ready && failures > 0) {
    const which = failures === 1 ? 'The last poll failed' : `The last ${count(failures)} polls failed`;
    return [cause === undefined ? `${which}.` : `${which}: ${cause}`];
  }
  // A first poll that is under way explains itself.
  return reasons.filter(({ reason }) => reason !== 'no-good-poll' || failures > 0).map(({ message }) => message);
}

function linkIssues(monitor: Monitor): Html | '' {
  const { held_removals: held = 0, open_rejections: rejected = 0 } = monitor.counts() ?? {};
  if (held + rejected === 0) return '';
  return html`<p>See what to do: ${held > 0 ? html`<a href="#held-title">${countOf(held, 'removal')} held</a>` : ''}${held > 0 && rejected > 0 ? ' · ' : ''}${rejected > 0 ? html`<a href="#rejected-title">${countOf(rejected, 'element')} rejected</a>` : ''}</p>`;
}

function drawTiles(monitor: Monitor, now: number): Html {
  const { settings, startedAt } = monitor;
  const { live_leagues, removed_leagues = 0 } = monitor.counts() ?? {};
  const hasData = live_leagues !== undefined && monitor.lastSuccess() !== undefined;
  const login = monitor.lastLogin();
  return html`<dl class="tiles" data-part="tiles">
<div><dt>Leagues listed</dt><dd>${hasData ? count(live_leagues) : '–'}<small>${removed_leagues === 0 ? '' : `${count(removed_leagues)} removed (history kept)`}</small></dd></div>
<div><dt>Session</dt>${drawSession(monitor.present(), now)}${login === undefined ? '' : html`<dd><small>last login ${when(login.at, now)}: ${login.outcome}</small></dd>`}</div>
<div><dt>Schedule</dt><dd><code>${settings.schedule.expression}</code><small>${settings.schedule.timezone}, ${settings.scope === 'all' ? 'all leagues' : `${settings.scope} leagues`}</small></dd></div>
<div><dt>Service</dt><dd><small>${settings.service}</small><small>worker started ${when(startedAt, now)}</small></dd></div>
</dl>`;
}

/** A token that has expired is no login, whatever became of the last one. */
function drawSession(present: Present | undefined, now: number): Html {
  const { refusal, token } = present ?? {};
  if (refusal !== undefined)
    return html`<dd class="bad">refused<small>tried again ${when(refusal.until, now, 'until')}</small></dd>`;
  if (token === undefined) return html`<dd>no token yet</dd>`;
  const { leftMs } = token;
  if (!isValid(token)) return html`<dd class="bad">expired ${when(now + (leftMs ?? 0), now)}</dd>`;
  const expiry = leftMs === undefined ? 'expiry unknown' : html`token expires ${when(now + leftMs, now, 'until')}`;
  return html`<dd>logged in<small>${expiry}</small></dd>`;
}

/** What is held, rejected or departs from the interface, and what to do about it. */
function drawIssues(issues: Issues, isEmpty: boolean, now: number): Html {
  const { held, openRejections, drift } = issues;
  if (held.length + openRejections + drift.length === 0) {
    return html`<section aria-labelledby="notices-title"><h2 id="notices-title">Nothing held, rejected or unexpected</h2>
<p class="muted">${isEmpty ? 'Nothing has been received yet.' : 'Everything received was stored; nothing unexpected.'}</p></section>`;
  }
  return html`${held.length > 0 ? drawHeld(issues, now) : ''}${openRejections > 0 ? drawRejections(issues, now) : ''}${drift.length > 0 ? drawDrift(issues, now) : ''}`;
}

function drawHeld({ held, unidentified }: Issues, now: number): Html {
  return html`<section aria-labelledby="held-title"><h2 id="held-title"><span class="tag held">held</span> ${countOf(held.length, 'removal')}</h2>
<p>${explainHeld(held, unidentified)} <span class="muted">First held ${when(held[0]?.held_since ?? now, now)}.</span></p>
<ul>${held.slice(0, MOST_HELD).map((row) => html`<li>${linkToLeague(row.league_id, row.league_name)}</li>`)}</ul>
${held.length > MOST_HELD ? html`<p class="muted">and ${count(held.length - MOST_HELD)} more, which <code>league-sync accept-removals</code> lists</p>` : ''}</section>`;
}

/** Why they are held, and what lets them pass. */
function explainHeld(held: readonly HeldRemoval[], unidentified: number): Html {
  const accepted = held.filter((row) => row.accepted_at !== null).length;
  if (unidentified > 0)
    return html`The last list has elements without a readable <code>league_id</code>, which might be any of these leagues. The removals wait until the service sends that right; accepting them changes nothing before.`;
  if (accepted > 0)
    return html`${count(accepted)} of them ${accepted === 1 ? 'is' : 'are'} accepted; the next poll removes ${accepted === 1 ? 'it' : 'them'}.`;
  return html`The service stopped sending ${held.length === 1 ? 'this league' : 'these leagues'}: too many at once, so they are held until you confirm. If that is right, run <code>league-sync accept-removals</code>. If they come back, the hold ends by itself.`;
}

function drawRejections({ rejections, openRejections: open }: Issues, now: number): Html {
  return html`<section aria-labelledby="rejected-title"><h2 id="rejected-title"><span class="tag bad">rejected</span> ${countOf(open, 'element')} of the last list</h2>
<p>They could not be stored; what is stored of their leagues stays as it is. Identical elements count once. Each is kept whole in the table <code>rejected_leagues</code>, and resolved when the service sends it right.</p>
<ul>${rejections.map(
    ({ league_id, position, problem, problems, first_seen_at }) =>
      html`<li>${league_id === null ? html`element ${position}` : html`<bdi>${league_id}</bdi>`}: ${bdi(problem ?? '')}${problems > 1 ? ` and ${problems - 1} more` : ''} <span class="muted">first seen ${when(first_seen_at, now)}</span></li>`,
  )}</ul>
${open > rejections.length ? html`<p class="muted">and ${count(open - rejections.length)} more</p>` : ''}</section>`;
}

function drawDrift({ drift }: Issues, now: number): Html {
  return html`<section aria-labelledby="drift-title"><h2 id="drift-title"><span class="tag warn">drift</span> Unexpected fields</h2>
<p>Nothing is lost by these: what fits no column is in <code>extra</code>. Tell the service, or change what reads the database.</p>
<ul>${drift.map(({ field, kind, detail, first_seen_at }) => html`<li><code>${field}</code> ${kind}${detail === null || detail === '' ? '' : html`: ${detail}`} <span class="muted">first seen ${when(first_seen_at, now)}</span></li>`)}</ul></section>`;
}

import { html } from 'hono/html';
import { formatAge } from '../../duration.ts';
import type { Success } from '../health.ts';
import { type HeldToken, isValid, type Monitor, type Present } from '../monitor.ts';
import type { Verdict } from '../verdict.ts';
import { iconPath } from './icon.ts';
import { count, countOf, type Html, old, timeOfDay, until, when } from './words.ts';

/** Whether the data is fresh and the session is fine, in words that can be read across a room. */
export function drawState(monitor: Monitor, now: number): Html {
  const verdict = monitor.verdict();
  const { state, headline } = verdict;
  const success = monitor.lastSuccess();
  return html`<div class="state ${state}" id="state" data-part="state">
<img class="icon" src="${iconPath(state)}" alt="" width="44" height="44">
<div><h1>${growAge(headline, success, now)}</h1>
<p class="facts">${drawFacts(monitor, now)}</p>
${explain(verdict, monitor).map((text) => html`<p class="why">${growAge(text, success, now)}</p>`)}
${drawLinks(monitor)}</div>
</div>
${drawTiles(monitor, now)}`;
}

/** What there is, how old it is, and when more comes. */
function drawFacts(monitor: Monitor, now: number): Html {
  const success = monitor.lastSuccess();
  const leagues = monitor.counts()?.live_leagues;
  return html`${leagues === undefined || success === undefined ? '' : `${countOf(leagues, 'league')} · `}${drawAge(success, now)} · ${drawNext(monitor, now)}`;
}

/** A sentence of the verdict, in which the age of the data grows while the page is open. */
function growAge(text: string, success: Success | undefined, now: number): Html | string {
  if (success === undefined) return text;
  const age = formatAge(success.ageMs);
  const at = text.indexOf(age);
  return at < 0 ? text : html`${text.slice(0, at)}${when(now - success.ageMs, now)}${text.slice(at + age.length)}`;
}

function drawAge(success: Success | undefined, now: number): Html {
  if (success === undefined) return html`no data yet`;
  // By its age, not by its instant: a clock that was set back makes nothing young.
  return html`data as of ${timeOfDay(success.at, now)} (${old(now - success.ageMs, now)})`;
}

/** Why it is not simply good. */
function explain({ ready, reasons }: Verdict, monitor: Monitor): readonly string[] {
  const failures = monitor.consecutiveFailures() ?? 0;
  const cause = monitor.lastError();
  if (ready && failures > 0) {
    const which = failures === 1 ? 'The last poll failed' : `The last ${count(failures)} polls failed`;
    return [cause === undefined ? `${which}.` : `${which}: ${cause}`];
  }
  // A first poll that is under way explains itself.
  const isAwaited = failures === 0;
  return reasons.filter(({ reason }) => reason !== 'no-good-poll' || !isAwaited).map(({ message }) => message);
}

function drawLinks(monitor: Monitor): Html | '' {
  const { held_removals: held = 0, open_rejections: rejected = 0 } = monitor.counts() ?? {};
  const links = [
    ...(held > 0 ? [html`<a href="#held-title">${countOf(held, 'removal')} held</a>`] : []),
    ...(rejected > 0 ? [html`<a href="#rejected-title">${countOf(rejected, 'element')} rejected</a>`] : []),
  ];
  return links.length === 0
    ? ''
    : html`<p>See what to do: ${links.map((link, index) => html`${index > 0 ? ' · ' : ''}${link}`)}</p>`;
}

function drawNext({ present, settings }: Monitor, now: number): Html {
  const { running, pausedUntil = 0, refusal } = present() ?? {};
  if (running !== undefined) return html`polling the ${running} now`;
  if (pausedUntil > now) return html`the service asked for a pause (Retry-After), next poll ${until(pausedUntil, now)}`;
  if (refusal !== undefined && refusal.until > now)
    return html`the credentials are tried again ${until(refusal.until, now)}`;
  return html`next poll ${until(settings.schedule.nextSlot(), now)}`;
}

function drawTiles(monitor: Monitor, now: number): Html {
  const { settings, startedAt } = monitor;
  const counts = monitor.counts();
  const login = monitor.lastLogin();
  return html`<dl class="tiles" data-part="tiles">
<div><dt>Leagues listed</dt><dd>${counts === undefined || monitor.lastSuccess() === undefined ? '–' : count(counts.live_leagues)}<small>${counts === undefined || counts.removed_leagues === 0 ? '' : `${count(counts.removed_leagues)} removed (history kept)`}</small></dd></div>
<div><dt>Session</dt>${drawSession(monitor.present(), now)}${login === undefined ? '' : html`<dd><small>last login ${when(login.at, now)}: ${login.outcome}</small></dd>`}</div>
<div><dt>Schedule</dt><dd><code>${settings.schedule.expression}</code><small>${settings.schedule.timezone}, ${settings.scope === 'all' ? 'all leagues' : `${settings.scope} leagues`}</small></dd></div>
<div><dt>Service</dt><dd><small>${settings.service}</small><small>worker started ${when(startedAt, now)}</small></dd></div>
</dl>`;
}

/** A token that has expired is no login, whatever became of the last one. */
function drawSession(present: Present | undefined, now: number): Html {
  const refusal = present?.refusal;
  if (refusal !== undefined)
    return html`<dd class="bad">refused<small>tried again ${until(refusal.until, now)}</small></dd>`;
  const token = present?.token;
  if (token === undefined) return html`<dd>no token yet</dd>`;
  if (!isValid(token)) return html`<dd class="bad">expired ${when(now + (token.leftMs ?? 0), now)}</dd>`;
  return html`<dd>logged in<small>${drawExpiry(token, now)}</small></dd>`;
}

function drawExpiry({ leftMs }: HeldToken, now: number): Html {
  return leftMs === undefined ? html`expiry unknown` : html`token expires ${until(now + leftMs, now)}`;
}

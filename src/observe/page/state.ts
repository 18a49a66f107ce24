import { html } from 'hono/html';
import { formatInstant } from '../../clock.ts';
import type { Monitor, Present } from '../monitor.ts';
import { count, countOf, type Html, when } from './words.ts';

/** Whether the data is fresh and the session is fine, in words that can be read across a room. */
export function drawState(monitor: Monitor, now: number): Html {
  const { state, headline, ready, reasons } = monitor.verdict();
  const cautions = ready ? cautionsOf(monitor) : [];
  const success = monitor.lastSuccessAt();
  return html`<div class="state ${LOOKS[state]}" id="state">
<h1>${headline}</h1>
${reasons.map(({ message }) => html`<p>${message}</p>`)}
${cautions.map((caution) => html`<p>${caution}</p>`)}
<p>${ready && success !== undefined ? html`The last good poll was ${when(success, now)}; ` : ''}${drawNext(monitor, now)}. <span class="muted">As of ${formatInstant(now).slice(11, 19)} UTC.</span></p>
</div>
${drawTiles(monitor, now)}`;
}

const LOOKS = { good: '', warning: 'wait', loading: 'wait', bad: 'bad' } as const;

/** What does not keep the data from being fresh, yet. */
function cautionsOf(monitor: Monitor): readonly (Html | string)[] {
  const { held_removals: held = 0, open_rejections: rejected = 0 } = monitor.counts() ?? {};
  const failures = monitor.consecutiveFailures() ?? 0;
  const fault = monitor.lastError();
  return [
    ...(failures > 0
      ? [
          `${failures === 1 ? 'The last poll' : `The last ${count(failures)} polls`} failed${fault === undefined ? '.' : `: ${fault}`}`,
        ]
      : []),
    ...(held > 0 ? [html`<a href="#held-title">${countOf(held, 'removal')} held</a>`] : []),
    ...(rejected > 0 ? [html`<a href="#rejected-title">${countOf(rejected, 'element')} rejected</a>`] : []),
  ];
}

function drawNext({ present, settings }: Monitor, now: number): Html {
  const { running, pausedUntil = 0, refusal } = present() ?? {};
  if (running !== undefined) return html`A poll of the ${running} is going on`;
  if (pausedUntil > now) return html`The service asked to be left alone; the next poll comes ${when(pausedUntil, now)}`;
  if (refusal !== undefined && refusal.until > now)
    return html`The credentials are tried again ${when(refusal.until, now)}`;
  return html`The next poll comes ${when(settings.schedule.nextSlot(), now)}`;
}

function drawTiles(monitor: Monitor, now: number): Html {
  const { settings, startedAt } = monitor;
  const counts = monitor.counts();
  const login = monitor.lastLogin();
  return html`<dl class="tiles">
<div><dt>Leagues listed</dt><dd>${counts === undefined ? '–' : count(counts.live_leagues)}<small>${counts === undefined ? '' : counts.removed_leagues === 0 ? '' : `${count(counts.removed_leagues)} removed ones are kept`}</small></dd></div>
<div><dt>Session</dt><dd>${drawSession(monitor.present(), now)}<small>${login === undefined ? '' : html`last login ${when(login.at, now)}: ${login.outcome}`}</small></dd></div>
<div><dt>Schedule</dt><dd><code>${settings.schedule.expression}</code><small>${settings.schedule.timezone}, ${settings.scope === 'all' ? 'all leagues' : `${settings.scope} leagues`}</small></dd></div>
<div><dt>Service</dt><dd><small>${settings.service}</small><small>worker started ${when(startedAt, now)}</small></dd></div>
</dl>`;
}

function drawSession(present: Present | undefined, now: number): Html {
  if (present?.refusal !== undefined)
    return html`refused<small>tried again ${when(present.refusal.until, now)}</small>`;
  if (present?.token === undefined) return html`no token`;
  const { expiresAt, clockSkewMs = 0 } = present.token;
  return expiresAt === undefined
    ? html`logged in<small>the token's end is not known</small>`
    : html`logged in<small>token expires ${when(expiresAt, now + clockSkewMs)}</small>`;
}

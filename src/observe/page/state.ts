import { html } from 'hono/html';
import type { Monitor, Present } from '../monitor.ts';
import { count, type Html, when } from './words.ts';

/** Whether the data is fresh and the session is fine, in words that can be read across a room. */
export function drawState(monitor: Monitor, now: number): Html {
  const { ready, reasons } = monitor.readiness();
  const isStarting = reasons[0]?.reason === 'starting';
  const [look, word] = ready ? ['', 'Fresh'] : isStarting ? ['wait', 'Starting'] : ['bad', 'Needs attention'];
  const success = monitor.lastSuccessAt();
  return html`<div class="state ${look}" role="status">
<h1>${word}</h1>
<p>${success === undefined ? 'No poll has been good yet' : html`The last good poll was ${when(success, now)}`}; ${drawNext(monitor, now)}.</p>
${reasons.map(({ message }) => html`<p>${message}</p>`)}
</div>
${drawTiles(monitor, now)}`;
}

function drawNext({ present, settings }: Monitor, now: number): Html {
  const { running, pausedUntil } = present() ?? { running: undefined, pausedUntil: 0 };
  if (running !== undefined) return html`a poll of the ${running} is going on`;
  if (pausedUntil > now) return html`the service asked to be left alone; the next one comes ${when(pausedUntil, now)}`;
  return html`the next one comes ${when(settings.schedule.nextSlot(), now)}`;
}

function drawTiles(monitor: Monitor, now: number): Html {
  const { settings, startedAt } = monitor;
  const counts = monitor.counts();
  const login = monitor.lastLogin();
  return html`<dl class="tiles">
<div><dt>Leagues listed</dt><dd>${counts === undefined ? '–' : count(counts.live_leagues)}<small>${counts === undefined ? '' : `${count(counts.removed_leagues)} removed, kept`}</small></dd></div>
<div><dt>Session</dt><dd>${drawSession(monitor.present(), now)}<small>${login === undefined ? '' : html`last login ${when(login.at, now)}: ${login.outcome}`}</small></dd></div>
<div><dt>Schedule</dt><dd><code>${settings.schedule.expression}</code><small>${settings.schedule.timezone}, ${settings.scope === 'all' ? 'all leagues' : `${settings.scope} leagues`}</small></dd></div>
<div><dt>Service</dt><dd><small>${settings.service}</small><small>worker started ${when(startedAt, now)}</small></dd></div>
</dl>`;
}

function drawSession(present: Present | undefined, now: number): Html {
  if (present?.refusal !== undefined)
    return html`refused<small>tried again ${when(present.refusal.until, now)}</small>`;
  if (present?.token === undefined) return html`no token`;
  const { expiresAt } = present.token;
  return expiresAt === undefined
    ? html`logged in<small>the token's end is not known</small>`
    : html`logged in<small>token expires ${when(expiresAt, now)}</small>`;
}

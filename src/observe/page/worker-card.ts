import { html } from 'hono/html';
import type { SessionFailure } from '../../service/backoff.ts';
import type { LiveState, Monitor } from '../monitor.ts';
import { bdi, countOf, type Html, relativeTime } from './html.ts';

/** What the worker does, and with whom. */
export function renderWorker(monitor: Monitor, now: number): Html {
  const { settings, startedAt, lastLogin: login } = monitor;
  const { schedule, scope } = settings;
  const row = (name: string, value: Html): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`;
  return html`<section aria-labelledby="worker-title"><div class="top"><h2 id="worker-title">Worker</h2></div>
<dl class="rows">
${row('Service', html`${settings.baseUrl}`)}${row(
  'Session',
  html`${renderSession(monitor.liveState() ?? {}, now)}${login === undefined ? '' : html`<small>last login ${relativeTime(login.at, now)}: ${login.outcome}</small>`}`,
)}${row('Schedule', html`<code>${schedule.expression}</code> <span class="muted">${schedule.timezone}, ${scope === 'all' ? 'all leagues' : `${scope} leagues`}</span>`)}${row(
  'Running',
  html`worker started ${relativeTime(startedAt, now)}`,
)}${row('Database', html`${monitor.path() ?? settings.database}`)}${renderWebhook(monitor, now)}${renderMirror(monitor, now)}</dl></section>`;
}

function renderSession({ failure, token }: Partial<LiveState>, now: number): Html {
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

function renderWebhook(monitor: Monitor, now: number): Html | '' {
  const webhook = monitor.webhook();
  if (!webhook) return '';
  const { host, pending_changes: pending, accepted_at, failed_attempts, last_error, stopped_at } = webhook;
  const last = accepted_at === null ? 'nothing accepted yet' : html`last accepted ${relativeTime(accepted_at, now)}`;
  const state =
    stopped_at !== null
      ? renderFailure('stopped: the receiver is gone (410)', null, now)
      : failed_attempts > 0
        ? renderFailure(last_error ?? 'failing', webhook.next_attempt_at, now)
        : html`<small>${last}</small>`;
  return html`<div><dt>Webhook</dt><dd>${countOf(pending, 'change')} pending<small>${host}</small>${state}</dd></div>
`;
}

function renderMirror(monitor: Monitor, now: number): Html | '' {
  const mirror = monitor.mirror();
  if (!mirror) return '';
  const { host, schema, lag_changes: lag, mirrored_at, last_error, next_attempt_at } = mirror;
  const written = mirrored_at === null ? 'not written yet' : html`last written ${relativeTime(mirrored_at, now)}`;
  const state = last_error === null ? html`<small>${written}</small>` : renderFailure(last_error, next_attempt_at, now);
  const behind = lag === null ? 'lag not known yet' : `${countOf(lag, 'change')} behind`;
  return html`<div><dt>Mirror</dt><dd>${behind}<small>${host}, ${schema}</small>${state}</dd></div>
`;
}

function renderFailure(error: string, nextAttemptAt: string | null, now: number): Html {
  const next =
    nextAttemptAt === null ? '' : html`<small>next attempt ${relativeTime(nextAttemptAt, now, 'until')}</small>`;
  return html`<small class="bad">${bdi(error)}</small>${next}`;
}

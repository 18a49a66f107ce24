import { html } from 'hono/html';
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
)}${row('Schedule', html`<code>${schedule.expression}</code><small>${schedule.timezone}, ${scope === 'all' ? 'all leagues' : `${scope} leagues`}</small>`)}${row(
  'Running',
  html`worker started ${relativeTime(startedAt, now)}`,
)}${row('Database', html`${monitor.path() ?? settings.database}`)}${renderWebhook(monitor, now)}${renderMirror(monitor, now)}</dl></section>`;
}

function renderSession({ refusal, token }: Partial<LiveState>, now: number): Html {
  if (refusal !== undefined) {
    const refused = refusal.subject === 'login' ? 'login refused' : `no access to ${refusal.subject}`;
    const what = refusal.error.httpStatus === undefined ? 'credentials unreadable' : refused;
    return html`<span class="bad">${what}</span><small>next try ${relativeTime(refusal.until, now, 'until')}</small>`;
  }
  if (token === undefined) return html`no token`;
  const { isValid, leftMs } = token;
  if (!isValid) return html`<span class="bad">expired ${relativeTime(now + (leftMs ?? 0), now)}</span>`;
  if (leftMs === undefined) return html`logged in<small>expiry unknown</small>`;
  return html`logged in<small>token expires ${relativeTime(now + leftMs, now, 'until')}</small>`;
}

function renderWebhook(monitor: Monitor, now: number): Html | '' {
  const webhook = monitor.webhook();
  if (!webhook) return '';
  const { host, pending_changes: pending, accepted_at, failed_attempts, last_error, stopped_at } = webhook;
  const { next_attempt_at } = webhook;
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

function renderMirror(monitor: Monitor, now: number): Html | '' {
  const mirror = monitor.mirror();
  if (!mirror) return '';
  const { host, schema, lag_changes: lag, mirrored_at, last_error, next_attempt_at } = mirror;
  const next = next_attempt_at === null ? '' : html`; next attempt ${relativeTime(next_attempt_at, now, 'until')}`;
  const written = mirrored_at === null ? 'not written yet' : html`last written ${relativeTime(mirrored_at, now)}`;
  const state = last_error === null ? written : html`${bdi(last_error)}${next}`;
  const behind = lag === null ? html`not known yet` : html`${countOf(lag, 'change')} behind`;
  return html`<div><dt>Mirror</dt><dd>${behind}<small>${host}, ${schema}</small><small>${state}</small></dd></div>
`;
}

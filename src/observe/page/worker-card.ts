import { html } from 'hono/html';
import type { SessionFailure } from '../../service/backoff.ts';
import type { OutputStatus } from '../../store/queries/outputs.ts';
import type { OutputName } from '../../store/tables/outputs.ts';
import type { State } from '../monitor.ts';
import { bdi, countOf, type Html, relativeTime } from './html.ts';

/** What the worker does, and with whom. */
export function renderWorker(state: State): Html {
  const { now, settings, startedAt, lastLogin: login, path, outputs } = state;
  const { schedule, scope } = settings;
  const row = (name: string, value: Html): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`;
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

const TITLES: Readonly<Record<OutputName, string>> = { webhook: 'Webhook', mirror: 'Mirror', copy: 'Copy' };

function renderOutput(output: OutputStatus, now: number): Html {
  const { name, label, pending_changes: pending, done_at, failed_attempts, last_error, next_attempt_at } = output;
  const done = done_at === null ? 'nothing yet' : html`last ${relativeTime(done_at, now)}`;
  const next = next_attempt_at && html`<small>next attempt ${relativeTime(next_attempt_at, now, 'until')}</small>`;
  const state =
    output.stopped_at !== null
      ? html`<small class="bad">stopped: the receiver is gone (410)</small>`
      : failed_attempts > 0
        ? html`<small class="bad">${bdi(last_error ?? 'failing')}</small>${next ?? ''}`
        : html`<small>${last_error === null ? done : bdi(last_error)}</small>`;
  const what = pending === null ? html`${label}` : html`${countOf(pending, 'change')} pending<small>${label}</small>`;
  return html`<div><dt>${TITLES[name]}</dt><dd>${what}${state}</dd></div>
`;
}

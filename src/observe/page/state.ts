import { html } from 'hono/html';
import type { FreshTime } from '../../store/queries/fresh-time.ts';
import { timeOfDay } from '../../time/clock.ts';
import type { State } from '../monitor.ts';
import type { Reason } from '../verdict.ts';
import { renderShares } from './fresh-strip.ts';
import { bdi, count, countOf, type Html, momentInText, relativeTime } from './html.ts';
import { iconPath } from './icons.ts';

/** What only the database knows; undefined if it cannot be read. */
type Stored = { readonly fresh: FreshTime | undefined; readonly driftCount: number } | undefined;

/** The top of the home page: the verdict, the age of the data, and what needs attention. */
export function renderState(worker: State, stored: Stored): Html {
  const { state, headline } = worker.verdict;
  return html`<div class="state ${state}" id="state" data-part="state">
<img class="icon" src="${iconPath(state)}" alt="" width="48" height="48">
<div class="what"><h1>${headline}</h1>
<p class="facts">${renderFacts(worker)}</p></div>
${stored && renderShares(stored.fresh?.shares ?? [])}${renderAttention(worker)}${stored && worker.success && renderChecks(worker, stored.driftCount)}</div>`;
}

function renderFacts(worker: State): Html {
  const { path, success, freshness, now } = worker;
  if (path === undefined) return html`opening the database`;
  const next = renderNextPoll(worker);
  if (success === undefined) return html`no data yet &middot; ${next}`;
  const leagues = freshness?.live_leagues;
  // Shows `ageMs`, which also uses the monotonic clock: setting the clock back does not make the data look newer.
  return html`${leagues === undefined ? '' : `${countOf(leagues, 'league')} · `}data as of ${timeOfDay(success.at, now)} (${relativeTime(now - success.ageMs, now, 'old')}) &middot; ${next}`;
}

function renderNextPoll({ running, pausedUntil, failure, isBlocked, settings, now }: State): Html {
  const until = (at: number) => relativeTime(at, now, 'until');
  if (running !== undefined) return html`polling the ${running} now`;
  if (pausedUntil > now) return html`the service asked for a pause (Retry-After), which ends ${until(pausedUntil)}`;
  if (isBlocked && failure !== undefined) return html`next try ${until(failure.until)}`;
  return html`next poll ${until(settings.schedule.nextTime(now))}`;
}

/** The rows of `attention`, and what keeps the worker from being ready although the database has no row for it. */
function renderAttention({ verdict, attention: found, now }: State): Html | '' {
  const { state, reasons } = verdict;
  const [worst] = reasons;
  // That the data is stale, and since when, stands in the headline and below; what matters more is why polls fail.
  const isSaid = state === 'loading' || found.some(({ what }) => what === 'failing');
  const rows = found
    .filter(({ what }) => what !== 'stale' || !isSaid)
    .toSorted((one, other) => Number(other.what === worst?.reason) - Number(one.what === worst?.reason));
  const isStored = ({ reason }: Reason): boolean =>
    reason === 'no-good-poll' || reason === 'stale' || rows.some(({ what }) => what === reason);
  const others = reasons.filter((reason) => !isStored(reason));
  if (others.length + rows.length === 0) return '';
  return html`<ul class="attention">${others.map(({ message }) => html`<li><p>${bdi(message)}</p></li>`)}${rows.map(
    ({ since, summary, what_to_do }) => html`<li><p><b>What happened</b> ${bdi(summary)}${
      since === null ? '' : html` <span class="muted">since ${momentInText(since, now)}</span>`
    }</p>
<p><b>What you can do</b> ${what_to_do}</p></li>`,
  )}</ul>`;
}

function renderChecks(worker: State, driftCount: number): Html | '' {
  const { held_removals: held = 0, open_rejections: rejected = 0 } = worker.freshness ?? {};
  const check = (isOpen: boolean, text: string): Html =>
    isOpen ? html`<li class="open"><a href="#notices">${text}</a></li>` : html`<li>${text}</li>`;
  return html`<ul class="checks">${check(held > 0, `${count(held)} held`)}${check(rejected > 0, `${count(rejected)} rejected`)}${
    driftCount === 0
      ? check(false, 'format as expected')
      : check(true, `${countOf(driftCount, 'departure')} from the interface`)
  }${renderSessionCheck(worker)}${renderOutputs(worker)}</ul>`;
}

/** The outputs that fail: then the data is up to date here, and not where they carry it. */
function renderOutputs({ outputs }: State): Html {
  const failing = outputs.filter(({ failed_attempts }) => failed_attempts > 0);
  return html`${failing.map(({ name, pending_changes: pending }) => {
    const lack = pending === null ? '' : `, ${countOf(pending, 'change')} pending`;
    return html`<li class="bad"><a href="#worker-title">${name} fails${lack}</a></li>`;
  })}`;
}

function renderSessionCheck({ failure, token, now }: State): Html {
  if (failure !== undefined) return html`<li class="bad">no session</li>`;
  if (token === undefined) return html`<li class="open">no session yet</li>`;
  if (!token.isValid) return html`<li class="bad">session expired</li>`;
  const { leftMs } = token;
  return html`<li>session valid${leftMs === undefined ? '' : html`, expires ${relativeTime(now + leftMs, now, 'until')}`}</li>`;
}

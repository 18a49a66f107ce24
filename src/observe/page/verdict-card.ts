import { html } from 'hono/html';
import type { FreshTime } from '../../store/queries/fresh-time.ts';
import type { Issues, RejectionGroup } from '../../store/queries/open-problems.ts';
import type { Attention } from '../../store/queries/overview.ts';
import type { HeldRemoval } from '../../store/tables/held-removals.ts';
import { plural } from '../../terminal/text.ts';
import { timeOfDay } from '../../time/clock.ts';
import {
  causeOf,
  OUTPUTS,
  outputCondition,
  type Reason,
  withoutRepeated,
  withoutSettings,
  worstFirst,
} from '../verdict.ts';
import type { State } from '../worker-state.ts';
import { renderFreshDays, renderShares } from './fresh-days.ts';
import { bdi, count, dueTime, type Html, linkToLeague, momentInText, relativeTime } from './html.ts';
import { iconPath } from './layout.ts';

/** What only the database knows; undefined if it cannot be read. */
type Stored = { readonly fresh: FreshTime | undefined; readonly driftCount: number } | undefined;

/** The top of the home page: the verdict, the age of the data, and what needs attention. */
export function renderVerdict(worker: State, stored: Stored): Html {
  const { state, headline } = worker.verdict;
  return html`<div class="state ${state}" id="state" data-part="state">
<img class="icon" src="${iconPath(state)}" alt="" width="48" height="48">
<div class="what"><h1>${headline}</h1>
<p class="facts">${renderFacts(worker, stored !== undefined)}</p></div>
${stored && renderShares(stored.fresh?.shares ?? [])}${stored && renderFreshDays(stored.fresh)}${renderAttention(worker)}${stored && worker.success && renderChecks(worker, stored.driftCount)}</div>`;
}

function renderFacts(worker: State, isReadable: boolean): Html {
  const { path, success, freshness, readFault, verdict, outputs, now } = worker;
  if (path === undefined) return html`opening the database`;
  const next = renderNextPoll(worker);
  if (success === undefined) return html`${verdict.headline.startsWith('No data') ? '' : 'no data yet · '}${next}`;
  if (readFault && !isReadable)
    return html`last good poll at ${timeOfDay(success.at, now)} (${relativeTime(now - success.ageMs, now)}) &middot; nothing is stored until the database can be used again`;
  const { live_leagues: leagues, held_removals: held = 0 } = freshness ?? {};
  const lack = held > 0 ? `, of which ${count(held)} were not found in the last list` : '';
  const failingOutputs = outputs
    .filter((output) => verdict.state === 'good' && outputCondition(output) === 'failing')
    .map(({ name }) => html` &middot; <br><b>the ${OUTPUTS[name].title} fails</b>`);
  // Shows `ageMs`, which also uses the monotonic clock: setting the clock back does not make the data look newer.
  return html`${leagues === undefined ? '' : html`${plural(leagues, 'league')}${lack} &middot; <br>`}data as of ${timeOfDay(success.at, now)} (${relativeTime(now - success.ageMs, now, 'old')})${renderLimit(worker)} &middot; <br>${next}${failingOutputs}`;
}

const hasFailed = ({ attention }: State): boolean =>
  attention.some(({ what }) => what === 'failing' || what === 'credentials-refused');

/** Until when the data can be used while polls fail, and since when it is stale. */
function renderLimit(worker: State): Html | '' {
  const { verdict, freshness, now } = worker;
  const staleAt = freshness?.stale_at;
  if (!staleAt || (verdict.ready && !hasFailed(worker))) return '';
  if (Date.parse(staleAt) <= now) return html`, <br>stale since ${momentInText(staleAt, now)}`;
  // The clock may have been set back.
  if (verdict.reasons.some(({ reason }) => reason === 'stale')) return '';
  return html`, <br>good until ${dueTime(staleAt, now)}`;
}

function renderNextPoll(worker: State): Html {
  const { running, pausedUntil, failure, isBlocked, settings, now } = worker;
  if (running === 'leagues') return html`polling the leagues now`;
  if (pausedUntil > now) return html`the service asked for a pause (Retry-After) until ${dueTime(pausedUntil, now)}`;
  const at = isBlocked && failure !== undefined ? failure.until : settings.schedule.nextTime(now);
  return html`${isBlocked || hasFailed(worker) ? 'tries again at' : 'next poll at'} ${dueTime(at, now)}`;
}

/** The rows of `attention`, and what keeps the worker from being ready although the database has no row for it. */
function renderAttention(worker: State): Html | '' {
  const { verdict, attention: found, splitCommands, now } = worker;
  const { state, reasons } = verdict;
  const [worst] = reasons;
  // Where the headline already says stale and since when, this says why polls fail.
  const isHeadline = worst?.reason === 'stale' || worst?.reason === 'no-good-poll';
  const isSaid = state === 'loading' || (isHeadline && found.some(({ what }) => what === 'failing'));
  const rows = worstFirst(withoutRepeated(found))
    .filter(({ what }) => what !== 'stale' || !isSaid)
    .toSorted((one, other) => Number(other.what === worst?.reason) - Number(one.what === worst?.reason));
  const isStored = ({ reason }: Reason): boolean =>
    reason === 'no-good-poll' || reason === 'stale' || rows.some(({ what }) => what === reason);
  const others = reasons
    .filter((reason) => !isStored(reason))
    .map(({ message }) => renderReason(message, splitCommands));
  const findings = [...rows, ...findNotes(worker)].map((finding: Finding) => {
    const { since, what, what_to_do } = finding;
    const begun = since && html`since ${momentInText(since, now)} (${relativeTime(since, now, 'for')})`;
    const advice = renderAdvice(what_to_do, splitCommands);
    return renderRow(renderSummary(finding), advice, { what, begun, outlook: renderOutlook(finding, worker) });
  });
  return others.length + findings.length === 0 ? '' : html`<ul class="attention">${others}${findings}</ul>`;
}

/** What comes if nothing is done. */
function renderOutlook({ what, nextAt }: Finding, { outputs, now }: State): Html | '' {
  if (what === 'held-removals') return html`If you do nothing, they stay in the database as they are.`;
  if (what === 'drift' || what === 'unusual-change') return html`This ends by itself a day after it was first seen.`;
  const at = nextAt ?? outputs.find(({ name }) => name === what)?.next_attempt_at;
  return at ? html`The next attempt is at ${dueTime(at, now)}.` : '';
}

const DRIFT = /(?<=: |, )(\S.*?) (unknown-field|wrong-type|missing-field|unexpected-value) \((.*?)\)(?=, | and |\.$)/g;
/** How the view begins to tell of it. */
const DEPARTS = /^In the last day, the service began to depart from its interface/;
const REPEATED = /(?<=: )The mirror at .*? cannot be used: /;

/** In plain words, and without the advice that stands below it. */
function renderSummary({ what, summary }: Finding): Html {
  if (what === 'drift')
    return bdi(
      summary
        .replace(DEPARTS, 'The format of the answers changed')
        .replace(DRIFT, (_, field, kind, detail) => describeDrift({ field, kind, detail })),
    );
  return bdi(what === 'credentials-refused' ? withoutSettings(summary) : summary.replace(REPEATED, ''));
}

type Finding = Omit<Attention, 'what' | 'count'> & { readonly what: string; readonly nextAt?: number };

/** What leaves the verdict as it is and is no row of `attention`, such as the first hour of an output that fails. */
function findNotes({ outputs, attention, failure, freshness, success, settings }: State): readonly Finding[] {
  const notes: Finding[] = [];
  for (const output of outputs) {
    const { name: what, label, pending_changes: pending, failing_since: since } = output;
    if (outputCondition(output) !== 'failing' || attention.some((row) => row.what === what)) continue;
    const lack = pending ? `: ${plural(pending, 'change')} pending` : '';
    const summary = `The ${OUTPUTS[what].title} at ${label} fails (${causeOf(output)})${lack}.`;
    const what_to_do = `To see why: league-sync ${what === 'webhook' ? 'webhook test' : 'check'}.`;
    notes.push({ what, since, summary, what_to_do });
  }
  if (failure?.subject === 'profile') {
    const summary = `The profile is not readable: the service gives no access (status ${failure.error.httpStatus}). The leagues are polled all the same.`;
    const what_to_do = 'If you do not need the profile, set LEAGUE_SYNC_PROFILE_SCHEDULE=off.';
    notes.push({ what: 'profile', since: null, summary, what_to_do, nextAt: failure.until });
  }
  if (success !== undefined && freshness?.live_leagues === 0) {
    const listed = settings.scope === 'all' ? '' : ` of ${settings.scope} leagues`;
    const summary = `The service answers with an empty list${listed}. This may be right, or the account or the address may be the wrong one.`;
    const what_to_do = `If it should not be empty: check LEAGUE_SYNC_USERNAME and LEAGUE_SYNC_BASE_URL. league-sync check shows what the service answers.`;
    notes.push({ what: 'empty-list', since: null, summary, what_to_do });
  }
  return notes;
}

/** A message whose last part, after a semicolon, says what to do, as those of the worker's errors do. */
function renderReason(message: string, splitCommands: State['splitCommands']): Html {
  const parts = message.split('; ');
  const fix = parts.length > 1 ? parts.pop() : undefined;
  const what = bdi(parts.map(capitalize).join('. '));
  return renderRow(fix === undefined ? what : html`${what}.`, fix && renderAdvice(fix, splitCommands));
}

type RowParts = { readonly what?: string; readonly begun?: Html | '' | null; readonly outlook?: Html | '' };

const renderRow = (summary: Html, steps: Html | '' | undefined, { what = '', begun, outlook }: RowParts = {}): Html =>
  html`<li data-what="${what}"><div><b>What happened ${begun && html`<small>${begun}</small>`}</b> <span>${summary}</span></div>${outlook && html`<div><b>What comes next</b> <span>${outlook}</span></div>`}${steps && html`<div><b>What you can do</b> <ul class="steps">${steps}</ul></div>`}</li>`;

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A worker that serves the page runs; and what the top of the page or the row says already. */
const NEEDLESS =
  /Start the worker if none runs: league-sync run\.( If one runs,( it goes on trying;)?)? *|^The worker tries again by itself\. |^The list has elements .*?: /;
const BETWEEN_STEPS = /; |(?<=\.) (?=[A-Z]|league-sync)/;

/** Advice as fits a page: a line for each step, and a command, as it is to be typed, on a line of its own. */
export function renderAdvice(text: string, splitCommands: State['splitCommands']): Html {
  const steps = text.replace(NEEDLESS, '').replace(/^Its /, "The worker's ").split(BETWEEN_STEPS);
  return html`${steps.map((step) => renderStep(splitCommands(step)))}`;
}

function renderStep(parts: readonly string[]): Html {
  const [before = '', command, after = ''] = parts;
  if (command === undefined || parts.length > 3)
    return html`<li>${capitalize(parts.join('').replace(/\.?$/, '.'))}</li>`;
  // Of `league-sync check names the cause.` this makes `This command names the cause:`.
  const lead = `${before.trim() || 'This command'}${after.replace(/\.$/, '')}`.replace(/:?$/, ':');
  return html`<li>${capitalize(lead)} <code class="command">${command}</code></li>`;
}

function renderChecks(worker: State, driftCount: number): Html | '' {
  const { held_removals: held = 0, open_rejections: rejected = 0 } = worker.freshness ?? {};
  const check = (isOpen: boolean, text: string, place = '#notices'): Html =>
    isOpen ? html`<li class="open"><a href="${place}">${text}</a></li>` : html`<li>${text}</li>`;
  const isNew = worker.attention.some(({ what }) => what === 'drift');
  return html`<ul class="checks">${check(held > 0, `${count(held)} held`)}${check(rejected > 0, `${count(rejected)} rejected`)}${
    driftCount === 0
      ? check(false, 'format as agreed')
      : html`<li class="${isNew ? 'open' : 'note'}"><a href="#notices">${plural(driftCount, 'format change')}</a></li>`
  }${renderSessionCheck(worker)}${worker.outputs
    .map((output) => [output.name, outputCondition(output)] as const)
    .filter(([, condition]) => condition === 'failing' || condition === 'stopped')
    .map(([name, condition]) =>
      check(true, `${name} ${condition === 'failing' ? 'fails' : 'stopped'}`, '#worker-title'),
    )}</ul>`;
}

function renderSessionCheck({ failure, token, now }: State): Html {
  if (failure !== undefined && failure.subject !== 'profile') return html`<li class="bad">no session</li>`;
  if (token === undefined) return html`<li class="open">no session yet</li>`;
  if (!token.isValid) return html`<li class="bad">session expired</li>`;
  const { leftMs } = token;
  return html`<li>session valid${leftMs === undefined ? '' : html`, expires ${relativeTime(now + leftMs, now, 'until')}`}</li>`;
}

const MAX_HELD = 10;

/** Details of what `attention` says: what is held, what could not be stored, and what departs from the interface. */
export function renderNotices(issues: Issues, now: number): Html | '' {
  const { held, openRejections, drift } = issues;
  if (held.length + openRejections + drift.length === 0) return '';
  return html`<div id="notices" data-part="notices">${held.length > 0 ? renderHeldRemovals(issues, now) : ''}${openRejections > 0 ? renderRejections(issues, now) : ''}${drift.length > 0 ? renderDrift(issues, now) : ''}</div>`;
}

function renderHeldRemovals({ held }: Issues, now: number): Html {
  const rest = held.length - MAX_HELD;
  return html`<section aria-labelledby="held-title"><h2 id="held-title"><span class="tag held">held</span> ${plural(held.length, 'removal')}</h2>
<p>Not found in the last list, and kept here as they were. ${explainAccepted(held)}<span class="muted">First held ${momentInText(held[0]?.held_since ?? now, now)}.</span></p>
<ul class="chips">${held.slice(0, MAX_HELD).map((row) => html`<li>${linkToLeague(row.league_id, row.league_name)}</li>`)}${
    rest > 0 ? html`<li><a href="leagues?status=held">${count(rest)} more</a></li>` : ''
  }</ul></section>`;
}

/** Why removals are held is said by `attention`, which leaves out those that are accepted. */
function explainAccepted(held: readonly HeldRemoval[]): Html | '' {
  const accepted = held.filter((row) => row.accepted_at !== null).length;
  if (accepted === 0) return '';
  const what = `${count(accepted)} of these removals ${accepted === 1 ? 'is' : 'are'} accepted`;
  return html`${what}; the next poll applies ${accepted === 1 ? 'it' : 'them'}. `;
}

function renderRejections({ rejections, openRejections: open }: Issues, now: number): Html {
  const rest = open - rejections.reduce((sum, { elements }) => sum + elements, 0);
  return html`<section aria-labelledby="rejected-title"><h2 id="rejected-title"><span class="tag bad">rejected</span> ${plural(open, 'element')} of the last list</h2>
${rejections.map((group) => renderGroup(group, now))}${rest > 0 ? html`<p class="muted">and ${count(rest)} with other problems</p>` : ''}</section>`;
}

function renderGroup({ problem, elements, first_seen_at, examples }: RejectionGroup, now: number): Html {
  const rest = elements - examples.length;
  return html`<h3>${count(elements)} &times; ${bdi(problem || 'not valid')} <span class="muted">since ${momentInText(first_seen_at, now)}</span></h3>
<ul class="chips">${examples.map(({ league_id, league_name, position }) => {
    if (league_id === null) return html`<li><code>leagues[${position}]</code></li>`;
    return html`<li>${league_name === null ? bdi(league_id) : linkToLeague(league_id, league_name)}</li>`;
  })}${rest > 0 ? html`<li class="muted">${count(rest)} more</li>` : ''}</ul>`;
}

function renderDrift({ drift, driftCount }: Issues, now: number): Html {
  const rest = driftCount - drift.length;
  return html`<section aria-labelledby="drift-title"><h2 id="drift-title"><span class="tag">format</span> What the service sends differs from what was agreed</h2>
<p>Values that fit no column are kept in <code>extra</code>.</p>
<ul>${drift.map(
    (entry) =>
      html`<li>${describeDrift(entry)} <span class="muted">since ${momentInText(entry.first_seen_at, now)}</span></li>`,
  )}${rest > 0 ? html`<li class="muted">and ${count(rest)} more in the table <code>drift</code></li>` : ''}</ul></section>`;
}

/** Such as `new field broadcast_partner (string)` and `priority: string where number was agreed`. */
function describeDrift({ field, kind, detail }: Pick<Issues['drift'][number], 'field' | 'kind' | 'detail'>): string {
  const name = field.replace(/^leagues\[\]\./, '');
  if (kind === 'unknown-field') return `new field ${name} (${detail})`;
  const [, found, agreed] = /^(.+) for (.+)$/.exec(detail) ?? [];
  if (kind === 'wrong-type' && found !== undefined) return `${name}: ${found} where ${agreed} was agreed`;
  return `${name} ${kind.replaceAll('-', ' ')}${detail === '' ? '' : `: ${detail}`}`;
}

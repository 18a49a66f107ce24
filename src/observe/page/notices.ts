import { html } from 'hono/html';
import type { Issues, RejectionGroup } from '../../store/queries/issues.ts';
import type { HeldRemoval } from '../../store/tables/held-removals.ts';
import { bdi, count, countOf, type Html, linkToLeague, momentInText } from './html.ts';

const MAX_HELD = 10;

/** Details of what `attention` says: what is held, what could not be stored, and what departs from the interface. */
export function renderNotices(issues: Issues, now: number): Html | '' {
  const { held, openRejections, drift } = issues;
  if (held.length + openRejections + drift.length === 0) return '';
  return html`<div id="notices" data-part="notices">${held.length > 0 ? renderHeldRemovals(issues, now) : ''}${openRejections > 0 ? renderRejections(issues, now) : ''}${drift.length > 0 ? renderDrift(issues, now) : ''}</div>`;
}

function renderHeldRemovals({ held, unidentified }: Issues, now: number): Html {
  const rest = held.length - MAX_HELD;
  return html`<section aria-labelledby="held-title"><h2 id="held-title"><span class="tag held">held</span> ${countOf(held.length, 'removal')}</h2>
<p>${explainAccepted(held, unidentified)}<span class="muted">First held ${momentInText(held[0]?.held_since ?? now, now)}.</span></p>
<ul class="chips">${held.slice(0, MAX_HELD).map((row) => html`<li>${linkToLeague(row.league_id, row.league_name)}</li>`)}${
    rest > 0 ? html`<li><a href="leagues?status=held">${count(rest)} more</a></li>` : ''
  }</ul></section>`;
}

/** Why removals are held is said by `attention`, which leaves out those that are accepted. */
function explainAccepted(held: readonly HeldRemoval[], unidentified: number): Html | '' {
  const accepted = held.filter((row) => row.accepted_at !== null).length;
  if (accepted === 0) return '';
  const what = `${count(accepted)} of these removals ${accepted === 1 ? 'is' : 'are'} accepted`;
  if (unidentified > 0)
    return html`${what}, but nothing is removed while the list has elements without a readable <code>league_id</code>, which might be any of these leagues. `;
  return html`${what}; the next poll applies ${accepted === 1 ? 'it' : 'them'}. `;
}

function renderRejections({ rejections, openRejections: open }: Issues, now: number): Html {
  const rest = open - rejections.reduce((sum, { elements }) => sum + elements, 0);
  return html`<section aria-labelledby="rejected-title"><h2 id="rejected-title"><span class="tag bad">rejected</span> ${countOf(open, 'element')} of the last list</h2>
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
  return html`<section aria-labelledby="drift-title"><h2 id="drift-title"><span class="tag warn">drift</span> The service has departed from its interface</h2>
<p>Values that fit no column are kept in <code>extra</code>.</p>
<ul>${drift.map(
    ({ field, kind, detail, first_seen_at }) =>
      html`<li><code>${field}</code> ${kind.replaceAll('-', ' ')}${detail === '' ? '' : html`: ${bdi(detail)}`} <span class="muted">since ${momentInText(first_seen_at, now)}</span></li>`,
  )}${rest > 0 ? html`<li class="muted">and ${count(rest)} more in the table <code>drift</code></li>` : ''}</ul></section>`;
}

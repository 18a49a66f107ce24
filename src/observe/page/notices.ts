import { html } from 'hono/html';
import type { Troubles } from '../../store/queries/issues.ts';
import type { HeldRemoval } from '../../store/tables/acceptance.ts';
import { count, countOf, foreign, type Html, linkToLeague, when } from './words.ts';

const MOST_HELD = 10;

export type Notices = Troubles & { readonly held: readonly HeldRemoval[] };

type View = {
  readonly now: number;
  /** There has been no good poll yet. */
  readonly isEmpty: boolean;
};

/** What is held, rejected or departs from the interface, and what to do about it. */
export function drawNotices(notices: Notices, { now, isEmpty }: View): Html {
  const { held, rejections, openRejections, unidentified, drift } = notices;
  if (held.length + openRejections + drift.length === 0) {
    return html`<section aria-labelledby="notices-title"><h2 id="notices-title">Nothing held, rejected or unexpected</h2>
<p class="muted">${isEmpty ? 'Nothing has been received yet.' : 'Everything received was stored; nothing unexpected.'}</p></section>`;
  }
  return html`${held.length > 0 ? drawHeld(held, unidentified, now) : ''}${openRejections > 0 ? drawRejections(rejections, openRejections, now) : ''}${drift.length > 0 ? drawDrift(drift, now) : ''}`;
}

function drawHeld(held: readonly HeldRemoval[], unidentified: number, now: number): Html {
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

function drawRejections(rejections: Troubles['rejections'], open: number, now: number): Html {
  return html`<section aria-labelledby="rejected-title"><h2 id="rejected-title"><span class="tag bad">rejected</span> ${countOf(open, 'element')} of the last list</h2>
<p>They could not be stored; what is stored of their leagues stays as it is. Identical elements count once. Each is kept whole in the table <code>rejected_leagues</code>, and resolved when the service sends it right.</p>
<ul>${rejections.map(
    ({ league_id, position, problem, problems, first_seen_at }) =>
      html`<li>${league_id === null ? html`element ${position}` : html`<bdi>${league_id}</bdi>`}: ${foreign(problem ?? '')}${problems > 1 ? ` and ${problems - 1} more` : ''} <span class="muted">first seen ${when(first_seen_at, now)}</span></li>`,
  )}</ul>
${open > rejections.length ? html`<p class="muted">and ${count(open - rejections.length)} more</p>` : ''}</section>`;
}

function drawDrift(drift: Troubles['drift'], now: number): Html {
  return html`<section aria-labelledby="drift-title"><h2 id="drift-title"><span class="tag warn">drift</span> Unexpected fields</h2>
<p>Nothing is lost by these: what fits no column is in <code>extra</code>. Tell the service, or change what reads the database.</p>
<ul>${drift.map(({ field, kind, detail, first_seen_at }) => html`<li><code>${field}</code> ${kind}${detail === null || detail === '' ? '' : html`: ${detail}`} <span class="muted">first seen ${when(first_seen_at, now)}</span></li>`)}</ul></section>`;
}

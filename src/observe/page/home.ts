import { html } from 'hono/html';
import { toRunError } from '../../errors.ts';
import { readDays } from '../../store/queries/changed-polls.ts';
import { createFreshTime } from '../../store/queries/fresh-time.ts';
import { readIssues } from '../../store/queries/issues.ts';
import type { createFacetCounter } from '../../store/queries/leagues.ts';
import { selectRuns } from '../../store/queries/overview.ts';
import type { Read, State } from '../monitor.ts';
import { renderPolls as renderChangedPolls } from './change-list.ts';
import { readViews } from './changes.ts';
import { renderFreshDays } from './fresh-strip.ts';
import { type Html, pathWith } from './html.ts';
import { renderLeaguesCard } from './leagues-card.ts';
import { renderNotices } from './notices.ts';
import { MAX_POLLS, renderPolls, spanOf } from './poll-chart.ts';
import { renderState } from './state.ts';
import { renderWorker } from './worker-card.ts';
import { firstDayShown, renderYear } from './year.ts';

/** About as high as the two cards beside them. */
const RECENT = { maxChanges: 5, foldAbove: 3 };
const MAX_FIELDS = 2;

type HomeData = ReturnType<ReturnType<typeof createReader>>;

export function createReader(read: Read, countFacets: ReturnType<typeof createFacetCounter>) {
  const readFreshTime = createFreshTime(read);
  return (now: number) => {
    try {
      return read((db) => ({
        polls: selectRuns(db, MAX_POLLS, 'leagues'),
        fresh: readFreshTime(db, now),
        days: readDays(db, new Date(firstDayShown(now)).toISOString()),
        recent: readViews(db, {}, RECENT),
        issues: readIssues(db),
        facets: countFacets(db),
      }));
    } catch (error) {
      return { error: toRunError(error).message };
    }
  };
}

export function renderHome(state: State, data: HomeData): Html {
  const { now, success, freshness, settings } = state;
  if ('error' in data) {
    const isKnown = state.verdict.reasons.some(({ message }) => message === data.error);
    return html`${renderState(state, undefined)}${renderError('h2', isKnown ? undefined : data.error)}
<div data-part="side">${renderWorker(state)}</div>`;
  }
  const { polls, fresh, days, recent, issues, facets } = data;
  const counts = success && freshness;
  return html`${renderState(state, { fresh, driftCount: issues.driftCount })}
${renderNotices(issues, now)}
<section aria-labelledby="polls-title" data-part="polls">${renderPolls(polls, spanOf(settings.schedule, now), now)}${renderFreshDays(fresh, now)}</section>
<section class="major" aria-labelledby="recent-title" data-part="recent"><div class="top"><h2 id="recent-title">Latest changes</h2><p class="end plain"><a href="changes">All changes</a></p></div>${renderChangedPolls(recent, now, MAX_FIELDS)}</section>
<div class="minor" data-part="side">${renderLeaguesCard(facets, counts)}${renderWorker(state)}</div>
<section aria-labelledby="year-title" data-part="year">${renderYear(days, now)}</section>`;
}

/** `error` is undefined if another part of the page already shows it. */
export function renderError(level: 'h1' | 'h2', error: string | undefined): Html {
  const title = 'No leagues, changes or polls to show';
  const heading = level === 'h1' ? html`<h1 id="error-title">${title}</h1>` : html`<h2 id="error-title">${title}</h2>`;
  return html`<section aria-labelledby="error-title" data-part="error">${heading}
<p>${error ?? 'They appear as soon as the database can be read.'}</p></section>`;
}

/** The address to which links to the list of leagues lead that were made when the list was on the home page. */
export function movedTo(query: URLSearchParams): string | undefined {
  const { q, sport, status, page } = Object.fromEntries(query);
  return q || sport || status || page ? pathWith('leagues', { q, sport, status, page }) : undefined;
}

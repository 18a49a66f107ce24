import { html } from 'hono/html';
import { DatabaseError } from '../../errors.ts';
import { createDayCounter, KINDS, readChanges, readLines } from '../../store/queries/changed-polls.ts';
import {
  countLeagues,
  createFacetCounter,
  listLeagues,
  readLeague,
  readName,
  SORTS,
} from '../../store/queries/leagues.ts';
import { countHeld } from '../../store/queries/open-problems.ts';
import { readSeasons } from '../../store/queries/seasons.ts';
import type { Handler, Request, Routes } from '../server.ts';
import type { Monitor, State } from '../worker-state.ts';
import { CHANGES_A_PAGE, FIELDS, renderChanges } from './changes.ts';
import { createReader, renderError, renderHome } from './home.ts';
import type { Html } from './html.ts';
import { ASSETS, type PageInfo, renderPage } from './layout.ts';
import { MAX_HISTORY, renderLeague } from './league.ts';
import { LEAGUES_A_PAGE, renderLeagues, USUAL_SORT } from './leagues.ts';
import { bandSince } from './seasons.ts';

/** Limits search texts, since a search compares the text with every league. Real names are shorter than this. */
const MAX_SEARCH_LENGTH = 100;
/** As the facets cut the names of sports. */
const MAX_SPORT_LENGTH = 200;

type Page = readonly [info: PageInfo, main: Html];

/** The HTML pages, their assets and all other paths. Without the database, `/` shows what the worker knows. */
export function createPages(monitor: Monitor) {
  const { read } = monitor;
  const countFacets = createFacetCounter();
  const countDays = createDayCounter();
  const readHome = createReader(read, { countFacets, countDays });
  const handle =
    (render: (request: Request, state: State) => Page): Handler =>
    (request) => {
      const state = inPlainWords(monitor.state());
      try {
        return renderPage(...render(request, state), state);
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        return renderPage({ title: 'Database not readable', status: 503 }, renderError('h1', error.message), state);
      }
    };
  const pages: Routes = {
    '/': handle((_, state) => {
      const data = readHome(state);
      return [
        { title: state.verdict.headline, path: '', status: 'error' in data ? 503 : 200 },
        renderHome(state, data),
      ];
    }),
    '/leagues': handle(({ query }, state) => {
      const choice = {
        search: query.get('q')?.slice(0, MAX_SEARCH_LENGTH) || undefined,
        sport: query.get('sport') || undefined,
        status: query.get('status') || undefined,
        sort: oneOf(SORTS, query.get('sort')) ?? USUAL_SORT,
      };
      const page = parsePositive(query.get('page')) ?? 1;
      const view = read((db) => {
        const listing = listLeagues(db, choice, { sort: choice.sort, page, limit: LEAGUES_A_PAGE });
        const isMissed = listing.total === 0 && choice.status === undefined;
        const removed = isMissed ? countLeagues(db, { ...choice, status: 'removed' }) : 0;
        return { choice, listing, removed, facets: countFacets(db), held: countHeld(db) };
      });
      return [{ title: 'Leagues', path: 'leagues' }, renderLeagues(view, state)];
    }),
    '/league': handle(({ query }, state) => {
      const id = query.get('id') ?? '';
      const { details, ...past } = read((db) => ({
        details: readLeague(db, id),
        history: readChanges(db, id, MAX_HISTORY),
        steps: readSeasons(db, id, bandSince(state.now)),
      }));
      if (details === undefined) return missing('No such league', 'There is no league with this id');
      return [{ title: details.name }, renderLeague(id, { details, ...past }, state)];
    }),
    '/changes': handle(({ query }, state) => {
      const number = (name: string) => parsePositive(query.get(name));
      const league = query.get('league') || undefined;
      const choice = {
        day: readDay(query.get('day')),
        kind: oneOf(KINDS, query.get('kind')),
        poll: number('poll'),
        sport: query.get('sport')?.slice(0, MAX_SPORT_LENGTH) || undefined,
        field: oneOf(FIELDS, query.get('field')),
        league,
        older: number('older'),
      };
      const view = read((db) => ({
        choice,
        days: countDays(db, state.now),
        sports: countFacets(db).sports,
        leagueName: league === undefined ? undefined : readName(db, league),
        ...readLines(db, choice, CHANGES_A_PAGE),
      }));
      return [{ title: 'Changes', path: 'changes' }, renderChanges(view, state)];
    }),
    ...ASSETS,
  };
  const notFound = handle(({ path }) =>
    missing('Not found', 'There is no such page', '../'.repeat(path.split('/').length - 2) || './'),
  );
  return { pages, notFound };
}

/** What has never come is not stale to people. */
function inPlainWords(state: State): State {
  const { verdict, success } = state;
  if (success !== undefined) return state;
  return { ...state, verdict: { ...verdict, headline: verdict.headline.replace(/^Stale:/, 'No data yet:') } };
}

function missing(title: string, text: string, up = './'): Page {
  return [{ title, status: 404, up }, html`<h1 data-part="missing">${text}</h1>`];
}

const oneOf = <T extends string>(values: readonly T[], text: string | null): T | undefined =>
  values.find((value) => value === text);

/** Parses a positive integer of at most 15 digits; undefined for anything else. */
function parsePositive(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

function readDay(text: string | null): string | undefined {
  const isDay = text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
  return isDay ? text : undefined;
}

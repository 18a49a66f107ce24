import { hash } from 'node:crypto';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import type { Clock } from '../../clock.ts';
import { DatabaseError, toRunError } from '../../errors.ts';
import { selectHeldRemovals } from '../../store/acceptance.ts';
import { readDays } from '../../store/calendar.ts';
import { countFacets, listLeagues } from '../../store/listing.ts';
import { glance } from '../../store/open.ts';
import { selectRuns } from '../../store/overview.ts';
import { readPortrait } from '../../store/portrait.ts';
import { readRecent } from '../../store/recent.ts';
import { readTroubles } from '../../store/trouble.ts';
import type { Monitor } from '../monitor.ts';
import { drawChanges, MOST_CHANGES } from './changes.ts';
import { drawFault, drawHome, type Stored } from './home.ts';
import { layOut } from './layout.ts';
import { drawLeague, MOST_HISTORY } from './league.ts';
import { PAGE_SIZE } from './leagues.ts';
import { MOST_POLLS } from './poll-chart.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';
import type { Html } from './words.ts';
import { firstDayOf } from './year.ts';

const RECENT = 12;
/** Longer than any name; what is compared with each league must not take long. */
const LONGEST_SEARCH = 100;
const STYLE_PATH = `/style-${versionOf(STYLE)}.css`;
const SCRIPT_PATH = `/page-${versionOf(SCRIPT)}.js`;
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#1a7f37"/><path d="M4.5 8.5l2.5 2.5 4.5-5.5" fill="none" stroke="#fff" stroke-width="2"/></svg>';

export type PagesOptions = {
  readonly clock: Clock;
  /** Goes before whatever reads the database. */
  readonly turns: MiddlewareHandler;
};

/** The pages that people look at. They read the database, and show what the worker knows where that cannot be read. */
export function createPages(monitor: Monitor, { clock, turns }: PagesOptions): Hono {
  const { version } = monitor.settings;
  const database = (): string => monitor.path() ?? monitor.settings.database;
  const pages = new Hono();
  const send = (c: Context, title: string, main: Html, status: 200 | 404 | 503 = 200) =>
    c.html(layOut({ title, style: STYLE_PATH, script: SCRIPT_PATH, version }, main), status);

  pages.get('/', turns, (c) => {
    const now = clock.now();
    const stored = readStored(database(), c.req.query(), now);
    return send(c, 'Status', drawHome(monitor, stored, now), 'fault' in stored ? 503 : 200);
  });
  pages.get('/league', turns, (c) => {
    const id = c.req.query('id') ?? '';
    const found = glance(database(), (db) => ({
      portrait: readPortrait(db, id),
      history: readRecent(db, { leagueId: id }, MOST_HISTORY),
    }));
    if (found.portrait === undefined)
      return send(c, 'No such league', html`<h1>There is no league with this id</h1>`, 404);
    return send(c, found.portrait.name, drawLeague({ ...found, id, portrait: found.portrait }, clock.now()));
  });
  pages.get('/changes', turns, (c) => {
    const day = readDay(c.req.query('day'));
    const before = readCount(c.req.query('before'));
    const changes = glance(database(), (db) => readRecent(db, { day, before }, MOST_CHANGES));
    return send(c, 'Changes', drawChanges({ day, changes }, clock.now()));
  });
  pages.onError((error, c) => {
    if (!(error instanceof DatabaseError)) throw error;
    return send(c, 'No database', drawFault(error.message), 503);
  });
  pages.get(STYLE_PATH, (c) => c.body(STYLE, 200, { 'Content-Type': 'text/css; charset=utf-8', ...FOR_EVER }));
  pages.get(SCRIPT_PATH, (c) => c.body(SCRIPT, 200, { 'Content-Type': 'text/javascript; charset=utf-8', ...FOR_EVER }));
  pages.get('/icon.svg', (c) => c.body(ICON, 200, { 'Content-Type': 'image/svg+xml', ...FOR_EVER }));
  return pages;
}

/** Another name for other content, so that browsers may keep each for ever. */
function versionOf(content: string): string {
  return hash('sha256', content, 'hex').slice(0, 12);
}

const FOR_EVER = { 'Cache-Control': 'public, max-age=31536000, immutable' };

function readStored(
  database: string,
  query: Readonly<Record<string, string>>,
  now: number,
): Stored | { fault: string } {
  const filter = {
    search: query.q?.slice(0, LONGEST_SEARCH) || undefined,
    sport: query.sport || undefined,
    status: query.status || undefined,
  };
  const page = readCount(query.page) ?? 1;
  try {
    return glance(database, (db) => ({
      polls: selectRuns(db, MOST_POLLS, 'leagues'),
      days: readDays(db, new Date(firstDayOf(now)).toISOString()),
      recent: readRecent(db, {}, RECENT),
      notices: { ...readTroubles(db), held: selectHeldRemovals(db) },
      leagues: {
        filter,
        facets: countFacets(db),
        listing: listLeagues(db, filter, { page, limit: PAGE_SIZE }),
      },
    }));
  } catch (error) {
    return { fault: toRunError(error).message };
  }
}

/** A whole number from 1; undefined for anything else. */
function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

function readDay(text: string | undefined): string | undefined {
  const isDay = text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
  return isDay ? text : undefined;
}

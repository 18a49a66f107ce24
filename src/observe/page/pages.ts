import { html } from 'hono/html';
import { DatabaseError } from '../../errors.ts';
import { readRecent } from '../../store/queries/feed.ts';
import { readLeague } from '../../store/queries/leagues.ts';
import type { Clock } from '../../time/clock.ts';
import type { Monitor } from '../monitor.ts';
import type { Handler, Response, Routes } from '../server.ts';
import { MAX_CHANGES, renderChanges } from './changes.ts';
import { createReader, parsePositive, renderError, renderHome } from './home.ts';
import type { Html } from './html.ts';
import { ASSETS, type PageInfo, renderPage, tabTitle } from './layout.ts';
import { renderLeague } from './leagues.ts';

/** The HTML pages and their assets. If the database cannot be read, `/` still shows what the worker holds in memory. */
export function createPages(monitor: Monitor, clock: Clock): Routes {
  const { read } = monitor;
  const readHome = createReader(read);
  const respond = (info: PageInfo, main: Html) => renderPage(info, main, monitor, clock.now());
  const handle =
    (render: (query: URLSearchParams) => Response): Handler =>
    ({ query }) => {
      try {
        return render(query);
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        return respond({ title: 'Database not readable', status: 503 }, renderError(error.message));
      }
    };

  return {
    '/': handle((query) => {
      const now = clock.now();
      const data = readHome(query, now);
      const main = renderHome(monitor, data, now);
      return respond({ title: tabTitle(monitor), path: '/', status: 'error' in data ? 503 : 200 }, main);
    }),
    '/league': handle((query) => {
      const id = query.get('id') ?? '';
      const { details, history } = read((db) => ({
        details: readLeague(db, id),
        history: readRecent(db, { leagueId: id }, MAX_CHANGES),
      }));
      if (details !== undefined)
        return respond({ title: details.name }, renderLeague(id, details, history, clock.now()));
      const notFound = html`<h1 data-part="league">There is no league with this id</h1>`;
      return respond({ title: 'No such league', status: 404 }, notFound);
    }),
    '/changes': handle((query) => {
      const day = readDay(query.get('day'));
      const before = parsePositive(query.get('before'));
      const changes = read((db) => readRecent(db, { day, before }, MAX_CHANGES));
      return respond({ title: 'Changes', path: '/changes' }, renderChanges(day, changes, clock.now()));
    }),
    ...ASSETS,
  };
}

function readDay(text: string | null): string | undefined {
  const isDay = text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
  return isDay ? text : undefined;
}

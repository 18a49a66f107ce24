import { html } from 'hono/html';
import type { Clock } from '../../clock.ts';
import { DatabaseError } from '../../errors.ts';
import { readRecent } from '../../store/queries/feed.ts';
import { readLeague } from '../../store/queries/leagues.ts';
import type { Monitor } from '../monitor.ts';
import { createReading } from '../reading.ts';
import type { Reply, Respond, Routes } from '../reply.ts';
import type { Turns } from '../turn.ts';
import { drawChanges, MOST_CHANGES } from './changes.ts';
import { createReader, readCount } from './data.ts';
import { drawFault, drawHome } from './home.ts';
import type { Html } from './html.ts';
import { ASSETS, type Frame, layOut, sumUp } from './layout.ts';
import { drawLeague } from './leagues.ts';

/** The pages that people look at. They read the database, and show what the worker knows if that cannot be read. */
export function createPages(monitor: Monitor, { clock, turns }: { clock: Clock; turns: Turns }): Routes {
  const read = createReading(monitor);
  const readHome = createReader(read);
  const reply = (frame: Frame, main: Html, status = 200): Reply => ({
    status,
    headers: { 'Content-Type': 'text/html; charset=UTF-8' },
    body: layOut(frame, main, monitor, clock.now()),
  });
  const drawn = (respond: (query: URLSearchParams) => Reply): Respond =>
    turns(({ query }) => {
      try {
        return respond(query);
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        return reply({ title: 'No database' }, drawFault(error.message), 503);
      }
    });

  return {
    '/': drawn((query) => {
      const now = clock.now();
      const data = readHome(query, now);
      return reply({ title: sumUp(monitor), path: '/' }, drawHome(monitor, data, now), 'fault' in data ? 503 : 200);
    }),
    '/league': drawn((query) => {
      const id = query.get('id') ?? '';
      const { portrait, history } = read((db) => ({
        portrait: readLeague(db, id),
        history: readRecent(db, { leagueId: id }, MOST_CHANGES),
      }));
      if (portrait === undefined) {
        const main = html`<h1 data-part="league">There is no league with this id</h1>`;
        return reply({ title: 'No such league' }, main, 404);
      }
      return reply({ title: portrait.name }, drawLeague(id, portrait, history, clock.now()));
    }),
    '/changes': drawn((query) => {
      const day = readDay(query.get('day'));
      const before = readCount(query.get('before'));
      const changes = read((db) => readRecent(db, { day, before }, MOST_CHANGES));
      return reply({ title: 'Changes', path: '/changes' }, drawChanges(day, changes, clock.now()));
    }),
    ...ASSETS,
  };
}

function readDay(text: string | null): string | undefined {
  const isDay = text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
  return isDay ? text : undefined;
}

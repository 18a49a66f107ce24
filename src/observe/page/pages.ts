import { hash } from 'node:crypto';
import { html } from 'hono/html';
import type { Clock } from '../../clock.ts';
import { DatabaseError } from '../../errors.ts';
import { readPortrait } from '../../store/queries/portrait.ts';
import { readRecent } from '../../store/queries/recent.ts';
import type { Monitor } from '../monitor.ts';
import { createReading } from '../reading.ts';
import type { Reply, Respond, Routes } from '../reply.ts';
import type { Turns } from '../turn.ts';
import { drawChanges, MOST_CHANGES } from './changes.ts';
import { drawFault, drawHome } from './home.ts';
import { ICONS } from './icon.ts';
import { layOut } from './layout.ts';
import { drawLeague, MOST_HISTORY } from './league.ts';
import { SCRIPT } from './script.ts';
import { createReader, readCount } from './stored.ts';
import { STYLE } from './style.ts';
import { sumUp } from './tab.ts';
import type { Html } from './words.ts';

const STYLE_PATH = `/style-${versionOf(STYLE)}.css`;
const SCRIPT_PATH = `/page-${versionOf(SCRIPT)}.js`;

export type PagesOptions = {
  readonly clock: Clock;
  /** Goes before whatever reads the database. */
  readonly turns: Turns;
};

type Heading = { readonly title: string; readonly path?: string; readonly status?: number };

/** The pages that people look at. They read the database, and show what the worker knows where that cannot be read. */
export function createPages(monitor: Monitor, { clock, turns }: PagesOptions): Routes {
  const { version } = monitor.settings;
  const read = createReading(monitor);
  const readStored = createReader(read);
  const reply = ({ title, path = '', status = 200 }: Heading, main: Html): Reply => {
    const { state } = monitor.verdict();
    const options = { title, state, path, now: clock.now(), style: STYLE_PATH, script: SCRIPT_PATH, version };
    const body = layOut(options, main).toString();
    return { status, headers: { 'Content-Type': 'text/html; charset=UTF-8' }, body };
  };
  const drawn = (respond: (query: URLSearchParams) => Reply): Respond =>
    turns(({ query }) => {
      try {
        return respond(query);
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        return reply({ title: 'No database', status: 503 }, drawFault(error.message));
      }
    });

  return {
    '/': drawn((query) => {
      const now = clock.now();
      const stored = readStored(query, now);
      const heading = { title: sumUp(monitor), path: '/', status: 'fault' in stored ? 503 : 200 };
      return reply(heading, drawHome(monitor, stored, now));
    }),
    '/league': drawn((query) => {
      const id = query.get('id') ?? '';
      const found = read((db) => ({
        portrait: readPortrait(db, id),
        history: readRecent(db, { leagueId: id }, MOST_HISTORY),
      }));
      if (found.portrait === undefined)
        return reply(
          { title: 'No such league', status: 404 },
          html`<h1 data-part="league">There is no league with this id</h1>`,
        );
      return reply({ title: found.portrait.name }, drawLeague({ ...found, id, portrait: found.portrait }, clock.now()));
    }),
    '/changes': drawn((query) => {
      const day = readDay(query.get('day'));
      const before = readCount(query.get('before'));
      const changes = read((db) => readRecent(db, { day, before }, MOST_CHANGES));
      return reply({ title: 'Changes', path: '/changes' }, drawChanges({ day, changes }, clock.now()));
    }),
    [STYLE_PATH]: () => replyForEver('text/css; charset=utf-8', STYLE),
    [SCRIPT_PATH]: () => replyForEver('text/javascript; charset=utf-8', SCRIPT),
    ...Object.fromEntries([...ICONS].map(([path, svg]) => [path, () => replyIcon(svg)])),
  };
}

/** Another name for other content, so that browsers may keep each for ever. */
function versionOf(content: string): string {
  return hash('sha256', content, 'hex').slice(0, 12);
}

/** Kept for a day, so that a page that cannot reach the worker any more has the icon that says so. */
function replyIcon(body: string): Reply {
  const headers = { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'public, max-age=86400' };
  return { status: 200, headers, body };
}

function replyForEver(type: string, body: string): Reply {
  return {
    status: 200,
    headers: { 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' },
    body,
  };
}

function readDay(text: string | null): string | undefined {
  const isDay = text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
  return isDay ? text : undefined;
}

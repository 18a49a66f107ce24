import { readListed } from '../store/queries/leagues.ts';
import { renderAtom } from './atom.ts';
import { MAX_PAGE_CHARS } from './feed-api.ts';
import { PARAMETERS, withParameters } from './parameters.ts';
import { jsonResponse, jsonTextResponse, type Routes } from './server.ts';
import { describeStatus } from './status-json.ts';
import type { Monitor } from './worker-state.ts';

/** The status and the live leagues, and the feed for feed readers. Later versions only add fields. */
export function createJsonApi(monitor: Monitor): Routes {
  const { read, provenance } = monitor;
  return {
    '/status.json': () => jsonResponse(describeStatus(monitor)),
    '/openapi.json': async () => jsonResponse((await import('./openapi.ts')).describeApi()),
    '/changes.atom': withParameters(PARAMETERS['/changes.atom'], () => ({
      status: 200,
      headers: { 'Content-Type': 'application/atom+xml; charset=utf-8' },
      body: read((db) => renderAtom(db, provenance())),
    })),
    '/leagues.json': withParameters(PARAMETERS['/leagues.json'], ({ status, sport, after = '', limit }) => {
      // Like on the page, an empty filter matches every league.
      const filter = { after, status: status || undefined, sport: sport || undefined };
      const { leagues, more } = read((db) => readListed(db, filter, { limit, maxChars: MAX_PAGE_CHARS }));
      const next = (more && leagues.at(-1)?.league_id) || null;
      return jsonTextResponse(`"leagues":[${leagues.map(({ json }) => json).join()}]`, { next, more, ...provenance() });
    }),
  };
}

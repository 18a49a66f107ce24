import { DatabaseError } from '../errors.ts';
import { changeJson, lastSeq, readBatch } from '../store/queries/feed.ts';
import { readListed } from '../store/queries/leagues.ts';
import type { Monitor } from './monitor.ts';
import { type Handler, jsonResponse, jsonTextResponse, type Response, type Routes } from './server.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** More than a thousand usual changes. A page of huge ones ends sooner, since reading it delays polls and probes. */
const MAX_PAGE_CHARS = 1_000_000;

/** The feed and the listed leagues, page by page, for programs without SQL. Later versions only add fields. */
export function createJsonApi({ read }: Pick<Monitor, 'read'>): Routes {
  return {
    '/changes.json': handle(['since', 'limit'], (query) => {
      const since = readNumber(query, 'since', 0) ?? 0;
      const limit = readLimit(query);
      const { last, entries, more } = read((db) => {
        const last = lastSeq(db);
        return { last, ...readBatch(db, { after: since, last }, { limit, maxChars: MAX_PAGE_CHARS }) };
      });
      if (since > last) return jsonResponse({ last_seq: last }, 409);
      const next = entries.at(-1)?.seq ?? since;
      return jsonTextResponse(`{"changes":[${entries.map(changeJson).join()}],"next":${next},"more":${more}}`);
    }),
    '/leagues.json': handle(['status', 'sport', 'after', 'limit'], (query) => {
      // Like on the page, an empty filter matches every league.
      const [status, sport] = ['status', 'sport'].map((name) => query.get(name) || undefined);
      const filter = { after: query.get('after') ?? '', status, sport };
      const limits = { limit: readLimit(query), maxChars: MAX_PAGE_CHARS };
      const { leagues, more } = read((db) => readListed(db, filter, limits));
      const next = more ? JSON.stringify(leagues.at(-1)?.league_id) : null;
      return jsonTextResponse(`{"leagues":[${leagues.map(({ json }) => json).join()}],"next":${next},"more":${more}}`);
    }),
  };
}

/** A query parameter that cannot be used. The message names it. */
class ParameterError extends Error {
  override name = 'ParameterError';
}

function handle(parameters: readonly string[], respond: (query: URLSearchParams) => Response): Handler {
  return ({ query }) => {
    try {
      assertParameters(query, parameters);
      return respond(query);
    } catch (error) {
      if (error instanceof ParameterError) return jsonResponse({ error: error.message }, 400);
      if (error instanceof DatabaseError) return jsonResponse({ error: error.message }, 503);
      throw error;
    }
  };
}

/** A misspelt `since` must not begin the feed again, and a misspelt filter must not give every league. */
function assertParameters(query: URLSearchParams, parameters: readonly string[]): void {
  for (const name of query.keys()) {
    if (!parameters.includes(name))
      throw new ParameterError(`there is no parameter ${name.slice(0, 50)}, only ${parameters.join(', ')}`);
    if (query.getAll(name).length > 1) throw new ParameterError(`${name} is given more than once`);
  }
}

function readNumber(query: URLSearchParams, name: string, from: number, to = Number.POSITIVE_INFINITY) {
  const text = query.get(name);
  if (text === null) return undefined;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= from && number <= to) return number;
  const upTo = Number.isFinite(to) ? ` to ${to}` : '';
  throw new ParameterError(`${name} must be a whole number from ${from}${upTo}`);
}

function readLimit(query: URLSearchParams): number {
  return readNumber(query, 'limit', 1, MAX_LIMIT) ?? DEFAULT_LIMIT;
}

import { DatabaseError } from '../errors.ts';
import { type Handler, jsonResponse, type Request, type Response } from './server.ts';

type Integer = {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum?: number;
  readonly default: number;
};
type Text = { readonly type: 'string'; readonly format?: string };
type Parameters = Readonly<Record<string, (Integer | Text) & { readonly description: string }>>;
type Values<P> = { readonly [Name in keyof P]: P[Name] extends Integer ? number : string | undefined };

const LIMIT = { type: 'integer', minimum: 1, maximum: 1_000, default: 100, description: 'How many at most.' } as const;

/** What each address for programs takes, as JSON Schemas, which `/openapi.json` has as well. */
export const PARAMETERS = {
  '/changes.json': {
    since: { type: 'integer', minimum: 0, default: 0, description: 'The last change that is known (`seq`).' },
    at: { type: 'string', format: 'date-time', description: 'Its `at`.' },
    limit: LIMIT,
    wait: { type: 'string', description: 'How long to wait for a change, such as `25s`; at most 50 s.' },
  },
  '/leagues.json': {
    status: { type: 'string', description: 'Only leagues with this status.' },
    sport: { type: 'string', description: 'Only leagues of this sport.' },
    after: { type: 'string', description: 'The `next` of the page before.' },
    limit: LIMIT,
  },
  '/changes.atom': {},
} as const satisfies Readonly<Record<string, Parameters>>;

/** A query parameter that cannot be used. The message names it. */
export class ParameterError extends Error {
  override name = 'ParameterError';
}

/** Answers 400 to a query that is not as the parameters say, and 503 if the database cannot be read. */
export function withParameters<P extends Parameters>(
  parameters: P,
  respond: (values: Values<P>, request: Request) => Response | Promise<Response>,
): Handler {
  return async (request) => {
    try {
      return await respond(readValues(parameters, request.query), request);
    } catch (error) {
      if (error instanceof ParameterError) return jsonResponse({ error: error.message }, 400);
      if (error instanceof DatabaseError) return jsonResponse({ error: error.message }, 503);
      throw error;
    }
  };
}

/** A misspelt `since` must not begin the feed again, and a misspelt filter must not give every league. */
function readValues<P extends Parameters>(parameters: P, query: URLSearchParams): Values<P> {
  const names = Object.keys(parameters);
  for (const name of query.keys()) {
    const known = names.length > 0 ? `only ${names.join(', ')}` : 'none is known';
    if (!names.includes(name)) throw new ParameterError(`there is no parameter ${name.slice(0, 50)}, ${known}`);
    if (query.getAll(name).length > 1) throw new ParameterError(`${name} is given more than once`);
  }
  const values = Object.entries(parameters).map(([name, schema]) => {
    const text = query.get(name) ?? undefined;
    return [name, schema.type === 'string' ? text : readInteger(name, schema, text)] as const;
  });
  return Object.fromEntries(values) as Values<P>;
}

function readInteger(name: string, { minimum, maximum, ...schema }: Integer, text = String(schema.default)): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= minimum && number <= (maximum ?? number)) return number;
  const upTo = maximum === undefined ? '' : ` to ${maximum}`;
  throw new ParameterError(`${name} must be a whole number from ${minimum}${upTo}`);
}

import { DatabaseError, toRunError } from '../errors.ts';
import { changeJson, lastSeq, readBatch, timeOfChange } from '../store/queries/feed.ts';
import { readListed } from '../store/queries/leagues.ts';
import { type OutputStatus, selectLast } from '../store/queries/overview.ts';
import type { OutputName } from '../store/tables/outputs.ts';
import { formatTimestamp } from '../time/clock.ts';
import { parseDuration } from '../time/duration.ts';
import { renderAtom } from './atom.ts';
import { type Handler, jsonResponse, jsonTextResponse, type Response, type Routes } from './server.ts';
import type { Monitor, State } from './worker-state.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** More than a thousand usual changes. A page of huge ones ends sooner, since reading it delays polls and probes. */
const MAX_PAGE_CHARS = 1_000_000;
/** Less than most proxies wait for an answer. */
const LONGEST_WAIT_MS = 50_000;

/** The status, the feed and the live leagues, for programs without SQL. Later versions only add fields. */
export function createJsonApi(monitor: Monitor): Routes {
  const { read, provenance } = monitor;
  return {
    '/status.json': () => jsonResponse(describeStatus(monitor)),
    '/openapi.json': async () => jsonResponse((await import('./openapi.ts')).describeApi()),
    '/changes.json': handle(['since', 'at', 'limit', 'wait'], (query) => {
      const since = readNumber(query, 'since', 0) ?? 0;
      const at = readInstant(query, 'at');
      const limit = readLimit(query);
      const waitMs = readWait(query);
      const { last, isKnown, entries, more } = read((db) => {
        const last = lastSeq(db);
        const isKnown = since <= last && (at === undefined || timeOfChange(db, since) === at);
        return { last, isKnown, ...readBatch(db, { after: since, last }, { limit, maxChars: MAX_PAGE_CHARS }) };
      });
      if (!isKnown) return jsonResponse({ last_seq: last, ...provenance() }, 409);
      const next = entries.at(-1)?.seq ?? since;
      const response = jsonTextResponse(`"changes":[${entries.map(changeJson).join()}]`, {
        next,
        more,
        ...provenance(),
      });
      return entries.length > 0 || waitMs === 0 ? response : { ...response, waitMs };
    }),
    '/changes.atom': handle([], () => ({
      status: 200,
      headers: { 'Content-Type': 'application/atom+xml; charset=utf-8' },
      body: read((db) => renderAtom(db, provenance())),
    })),
    '/leagues.json': handle(['status', 'sport', 'after', 'limit'], (query) => {
      // Like on the page, an empty filter matches every league.
      const [status, sport] = ['status', 'sport'].map((name) => query.get(name) || undefined);
      const filter = { after: query.get('after') ?? '', status, sport };
      const limits = { limit: readLimit(query), maxChars: MAX_PAGE_CHARS };
      const { leagues, more } = read((db) => readListed(db, filter, limits));
      const next = (more && leagues.at(-1)?.league_id) || null;
      return jsonTextResponse(`"leagues":[${leagues.map(({ json }) => json).join()}]`, { next, more, ...provenance() });
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
      throw new ParameterError(
        `there is no parameter ${name.slice(0, 50)}, ${parameters.length > 0 ? `only ${parameters.join(', ')}` : 'none is known'}`,
      );
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

/** In the form of the feed's `at`. */
function readInstant(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name) ?? undefined;
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text ?? '') ? Date.parse(text ?? '') : Number.NaN;
  if (text === undefined || (!Number.isNaN(ms) && formatTimestamp(ms) === text)) return text;
  throw new ParameterError(`${name} must be the at of a change, such as 2026-11-20T12:00:00.000Z`);
}

/** How long to wait for a change, in ms; 0 if that was not asked for. */
function readWait(query: URLSearchParams): number {
  const text = query.get('wait');
  const ms = text === null ? 0 : parseDuration(text);
  if (ms !== undefined && ms <= LONGEST_WAIT_MS) return ms;
  throw new ParameterError('wait must be a duration such as 25s, at most 50s');
}

/** The body of `/status.json`. Either `database.fault` is null, or both `stored` and `attention` are. */
export function describeStatus({ state: readState, provenance, read }: Monitor) {
  const state = readState();
  const { settings, token, failure } = state;
  const { baseUrl, scope, schedule, profileSchedule } = settings;
  return {
    ...state.verdict,
    version: state.version,
    now: formatTimestamp(state.now),
    started_at: formatTimestamp(state.startedAt),
    ...provenance(),
    service: baseUrl,
    scope,
    schedule: describeSchedule(schedule, state.now),
    profile_schedule: profileSchedule === 'off' ? profileSchedule : describeSchedule(profileSchedule, state.now),
    running: state.running ?? null,
    paused_until: timestampOf(state.pausedUntil || undefined),
    session: {
      logged_in: token?.isValid === true,
      // By the service's clock; the other timestamps are by this machine's clock.
      token_expires_at: timestampOf(token?.expiresAt),
      // Positive if the service's clock is ahead.
      clock_skew_ms: token?.clockSkewMs ?? null,
      refused: failure?.error.kind === 'credentials' ? failure.error.message : null,
      retry_at: timestampOf(failure?.until),
    },
    ...describeStored(state, read),
  };
}

function describeSchedule({ expression, timezone, nextTime }: State['settings']['schedule'], now: number) {
  return { expression, timezone, next_at: formatTimestamp(nextTime(now)) };
}

function describeStored({ attention, freshness, outputs, ...state }: State, read: Monitor['read']) {
  const path = state.path ?? state.settings.database;
  const broken = (fault: string) => ({ attention: null, mirror: null, database: { path, fault }, stored: null });
  if (state.readFault !== undefined) return broken(state.readFault);
  try {
    const { last_runs, last_login = null, held_removals } = read(selectLast);
    const { mirror, ...others } = outputsJson(outputs);
    return {
      attention,
      mirror,
      database: { path, fault: null },
      stored: { freshness, last_runs, last_login, held_removals, ...others },
    };
  } catch (error) {
    return broken(toRunError(error).message);
  }
}

function timestampOf(ms: number | undefined): string | null {
  return ms === undefined ? null : formatTimestamp(ms);
}

/** The outputs as members of a JSON object; null for one that is not set. */
export function outputsJson(outputs: readonly OutputStatus[]) {
  const find = (name: OutputName) => outputs.find((output) => output.name === name);
  const [webhook, mirror, copy] = [find('webhook'), find('mirror'), find('copy')];
  return {
    outputs,
    webhook: webhook
      ? { ...webhook, host: webhook.label, accepted_seq: webhook.seq, accepted_at: webhook.done_at }
      : null,
    mirror: mirror ? { ...mirror, mirrored_at: mirror.done_at, lag_changes: mirror.pending_changes } : null,
    published: copy ? { ...copy, path: copy.label, at: copy.done_at } : null,
  };
}

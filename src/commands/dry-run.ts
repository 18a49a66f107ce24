import type { Config } from '../config/config.ts';
import { fingerprintOf } from '../config/credentials.ts';
import { EXIT } from '../errors.ts';
import { remainingMs } from '../http/retry-after.ts';
import { leagueJson } from '../league/feed-json.ts';
import type { League } from '../league/response-schemas.ts';
import { parseLeagues } from '../service/parse-leagues.ts';
import { openService } from '../service/service.ts';
import { describeLeague, nameBefore } from '../store/change-words.ts';
import { changedFields } from '../store/queries/changed-fields.ts';
import type { Change } from '../store/queries/feed.ts';
import { readSnapshot } from '../store/queries/overview.ts';
import { findLoginWait } from '../sync/login-wait.ts';
import { type Plan, planPoll } from '../sync/plan.ts';
import { describeCounts } from '../sync/report.ts';
import { assertSameService } from '../sync/same-service.ts';
import { escapeAdvice, isPipe, type Terminal } from '../terminal/style.ts';
import { plural } from '../terminal/text.ts';
import { systemClock } from '../time/clock.ts';
import { type ChangeRow, formatChanges } from './change-text.ts';
import type { ProcessIO } from './command.ts';
import { loginDueSince } from './one-shot.ts';
import { describeNews } from './poll-result.ts';
import { startProgress } from './progress.ts';

/** Plans a poll and prints the plan. Takes no lock, and records neither a run nor a login. */
export async function dryRun(config: Config, io: ProcessIO, serviceMoved: boolean): Promise<number> {
  const { database: path, baseUrl } = config;
  const waits = readSnapshot(path, ({ identity, logins, runs }) => {
    if (!serviceMoved) assertSameService(path, identity.baseUrl(), baseUrl);
    const [fingerprint, now] = [fingerprintOf(config), systemClock.now()];
    const barredBy = findLoginWait(logins.lastingFailures(fingerprint), loginDueSince(io), now);
    return { barredBy, retryAfterLeftMs: remainingMs(runs.lastRetryAfter(fingerprint), now) };
  });
  using progress = startProgress(io, 'reading the database');
  const list = await fetchList(config, io, { ...waits, emit: progress.onEvent });
  progress.say('comparing with the database', list.received > MANY);
  const { listed, outcome, counts, heldBecause } = readSnapshot(path, (snapshot) => {
    const planned = planPoll(snapshot, list, config);
    return { ...planned, listed: listChanges(planned, snapshot.leagues.load) };
  });
  const why = heldBecause === undefined ? '' : `; held because ${heldBecause}`;
  const summary = isPipe(io.terminal)
    ? `dry run: ${outcome}: ${describeCounts(counts, undefined)}${why}; nothing was written`
    : `dry run  ${describeNews(counts, undefined, heldBecause)}; nothing was written`;
  if (listed.length > 0) await io.print(formatPlan(listed, io.terminal));
  await io.say(summary);
  return outcome === 'held' ? EXIT.held : EXIT.done;
}

/** Comparing a list of this length takes about a tenth of a second. */
const MANY = 10_000;

type Fetch = Required<Pick<Parameters<typeof openService>[1], 'barredBy' | 'retryAfterLeftMs' | 'emit'>>;

async function fetchList(config: Config, { stop: signal }: ProcessIO, fetch: Fetch) {
  await using service = openService(config, { firstReason: 'manual', signal, ...fetch });
  using deadline = service.startDeadline();
  const { body } = await service.client.fetchLeagues(config.scope, { deadline, stats: { attempts: 0 } });
  return parseLeagues(body, config.scope, { signal: deadline.signal, emit: fetch.emit });
}

type PlannedChange = Pick<Change, 'league_id' | 'league_name' | 'before' | 'after'> & {
  readonly kind: Change['kind'] | 'held';
};

function listChanges({ changes, removals }: Plan, load: (leagueId: string) => League): readonly PlannedChange[] {
  return [
    ...changes.added.map(({ league }) => plannedChange('added', league)),
    ...changes.changed.map(({ before, after }) => plannedChange('changed', after.league, before)),
    ...changes.restored.map(({ before, after }) => plannedChange('restored', after.league, before)),
    ...removals.removed.map((leagueId) => plannedChange('removed', load(leagueId))),
    ...removals.held.map((leagueId) => plannedChange('held', load(leagueId))),
  ];
}

function plannedChange(kind: PlannedChange['kind'], league: League, before: string | null = null): PlannedChange {
  const { league_id, league_name } = league;
  return { kind, league_id, league_name, before, after: leagueJson(league) };
}

const TONES = { added: 'good', changed: 'warning', restored: 'good', removed: 'bad', held: 'warning' } as const;

/** At a terminal, what more leagues than these have in common is one line. */
const MOST_ALIKE = 10;
const NAMED = 3;

function formatPlan(changes: readonly PlannedChange[], terminal: Terminal): string {
  if (isPipe(terminal))
    return changes.map((change) => `${change.kind.padEnd('restored'.length)}  ${describeLeague(change)}`).join('\n');
  const leagues = changes.map((change) => {
    const row = toRow(change);
    return row.fields.length === 0 ? [row] : row.fields.map((field) => ({ ...row, fields: [field] }));
  });
  const groups = Map.groupBy(leagues.flat(), ({ mark, fields }) => JSON.stringify([mark.text, fields]));
  const alike = [...groups.values()].filter((rows) => rows.length > MOST_ALIKE);
  const folded = new Set(alike.flat());
  const others = leagues.flatMap((rows) => {
    const [row, ...rest] = rows.filter((one) => !folded.has(one));
    return row === undefined ? [] : [{ ...row, fields: [row, ...rest].flatMap(({ fields }) => fields) }];
  });
  const all = alike.length === 0 ? [] : [escapeAdvice('→ all of them: league-sync sync --dry-run | cat', terminal)];
  return [...formatChanges(alike.flatMap(fold), terminal), ...formatChanges(others, terminal), ...all, ''].join('\n');
}

function fold(rows: readonly ChangeRow[]): readonly ChangeRow[] {
  const names = rows.slice(0, NAMED).map(({ name }) => name);
  const counted = plural(rows.length, 'league');
  const named = `${counted}: ${names.join(', ')}, …`;
  return rows.slice(0, 1).map((row) => ({ ...row, name: row.fields.length === 0 ? named : counted }));
}

function toRow({ kind, ...change }: PlannedChange): ChangeRow {
  const name = nameBefore(change)?.trim() || change.league_id;
  return { lead: [], mark: { text: kind, tone: TONES[kind] }, name, fields: changedFields(change) };
}

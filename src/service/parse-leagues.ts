import { hash } from 'node:crypto';
import type { Scope } from '../config/config.ts';
import { ContractError } from '../errors.ts';
import { createDriftLog, type Drift, type DriftLog } from '../league/drift.ts';
import { contentHash, elementHash } from '../league/feed-json.ts';
import { canonicalJson, isDeeperThan, isObject, type JsonObject, type JsonValue, MAX_DEPTH } from '../league/json.ts';
import {
  type JsonText,
  LEAGUE_FIELDS,
  LEAGUE_STATUSES,
  LEAGUES_RESPONSE,
  type League,
} from '../league/response-schemas.ts';
import { yieldToEventLoop } from '../race-abort.ts';
import { formatCount } from '../time/duration.ts';
import type { ConnectionOptions } from './connection.ts';
import { type Problem, readFields, readText, unknownFields } from './detect-drift.ts';

export type ReceivedLeague = {
  readonly leagueId: string;
  readonly league: League;
  /** Hash of the content: leagues with equal content have equal hashes. */
  readonly hash: string;
  /** Index in the list, from 0. */
  readonly position: number;
};

/** An element of the list that cannot be stored. */
export type Rejection = {
  /** Null if the id is unreadable; the element may then describe any league. */
  readonly leagueId: string | null;
  /** Index in the list, from 0. */
  readonly position: number;
  readonly problems: readonly Problem[];
  /** Canonical JSON of the element, or of its id and a note if it is too deep, too long, or has too many fields. */
  readonly raw: JsonText;
};

/** A leagues response (interface, 4.3), validated element by element. */
export type LeagueList = Awaited<ReturnType<typeof parseLeagues>>;

/** The number of elements read per turn of the event loop. Reading them takes a few milliseconds. */
const BATCH_SIZE = 500;

type ParseOptions = Pick<ConnectionOptions, 'emit'> & {
  readonly stored?: ReadonlyMap<string, string>;
  readonly signal?: AbortSignal;
};

/** Rejects like `signal`, or with a ContractError. Elements that equal one of `stored` (hashes) are not validated. */
export async function parseLeagues(
  body: JsonObject,
  scope: Scope,
  { stored = new Map(), signal, emit }: ParseOptions = {},
) {
  if (!Array.isArray(body.leagues)) throw new ContractError('The leagues response has no list in "leagues".');
  const elements: readonly JsonValue[] = body.leagues;
  const received = elements.length;
  const usable: ReceivedLeague[] = [];
  const rejections: Rejection[] = [];
  let rejected = 0;
  const drift = createDriftLog();
  drift.add(unknownFields(body, LEAGUES_RESPONSE.shape, 'leagues'));
  for (const [position, element] of elements.entries()) {
    if (position % BATCH_SIZE === BATCH_SIZE - 1) {
      emit?.({ type: 'progress', what: `checking ${formatCount(position + 1)} of ${formatCount(received)}` });
      await yieldToEventLoop(signal);
    }
    const read = readElement(element, position, stored, drift);
    if (!('problems' in read)) {
      usable.push(read);
      continue;
    }
    rejected += 1;
    // Rejections past the limit of assertMostlyValid are not kept: millions of them would take gigabytes.
    if (rejections.length * 2 <= received) rejections.push(read);
  }
  const leagues = mergeDuplicates(usable, rejections);
  const conflicts = leagues.size === usable.length ? [] : usable.filter(({ leagueId }) => !leagues.has(leagueId));
  for (const { position } of conflicts) rejections.push(reject(elements[position] ?? null, position, CONFLICT));
  rejections.sort((a, b) => a.position - b.position);
  assertMostlyValid(rejected + conflicts.length, received, rejections);
  const distinct = [...Map.groupBy(rejections, ({ raw }) => raw).values()].flatMap((same) => same.slice(0, 1));
  if (scope !== 'all') {
    // A StoredElement has the same status as its row, which is in scope.
    const other = leagues.values().find((one) => !(one instanceof StoredElement) && one.league.status !== scope);
    if (other !== undefined) drift.add([unexpectedStatus(`not ${scope}, which was asked for`)], other.leagueId);
  }
  return {
    received,
    /** The leagues that can be stored, by `league_id`. */
    leagues,
    /** Elements with the same `raw` are listed once. */
    rejections: distinct,
    /** The number of elements, valid or rejected, that have the same content as an earlier element. */
    duplicates: received - leagues.size - distinct.length,
    drift: drift.list(),
  };
}

function readElement(sent: JsonValue, position: number, stored: ReadonlyMap<string, string>, driftLog: DriftLog) {
  const hash = isObject(sent) ? elementHash(sent) : undefined;
  if (isObject(sent) && hash !== undefined) {
    const leagueId = sent.league_id as string;
    const storedHash = stored.get(leagueId);
    // Passes on the stored string: `reconcile` compares the hashes again, and comparing a string with itself is fastest.
    if (storedHash === hash) return new StoredElement(sent, leagueId, storedHash, position);
  }
  const excess = excessOf(sent);
  if (excess !== undefined) {
    const kept = { league_id: readableId(sent), note: `${excess} to be kept` };
    return reject(sent, position, [{ path: '', message: excess }], kept);
  }
  if (!isObject(sent)) return reject(sent, position, [{ path: '', message: 'is not an object' }]);
  const { values, problems, drift } = readFields(LEAGUE_FIELDS, sent, 'leagues[].');
  driftLog.add(drift, readableId(sent));
  if (values.status !== null && !LEAGUE_STATUSES.includes(values.status))
    driftLog.add([unexpectedStatus('neither active nor inactive')], readableId(sent));
  if (values.league_id === '') problems.unshift({ path: 'league_id', message: 'is empty' });
  if (problems.length > 0) return reject(sent, position, problems);
  // The cast is safe: if there are no problems, each value has its column's type, or is null if it may be missing.
  const league = values as League;
  return { leagueId: league.league_id, league, hash: hash ?? contentHash(league), position };
}

function unexpectedStatus(detail: string): Drift {
  return { field: 'leagues[].status', kind: 'unexpected-value', detail };
}

/** An element whose content equals that of its stored league, as is usual. `league` is parsed on each access. */
class StoredElement implements ReceivedLeague {
  readonly leagueId: string;
  readonly hash: string;
  readonly position: number;
  private readonly sent: JsonObject;

  constructor(sent: JsonObject, leagueId: string, hash: string, position: number) {
    this.leagueId = leagueId;
    this.hash = hash;
    this.position = position;
    this.sent = sent;
  }

  get league(): League {
    return readFields(LEAGUE_FIELDS, this.sent, '').values as League;
  }
}

/** Limits the fields of an element, since unknown ones are all stored, in `extra` and in the change feed. */
const MAX_FIELDS = 10_000;
const TOO_DEEP = 'is nested too deeply';

function excessOf(sent: JsonValue): string | undefined {
  if (!isObject(sent)) return isDeeperThan(sent, MAX_DEPTH) ? TOO_DEEP : undefined;
  const names = Object.keys(sent);
  if (names.length > MAX_FIELDS) return 'has too many fields';
  // Only objects and lists are searched: most fields are neither, and there may be very many leagues.
  const isTooDeep = (name: string): boolean =>
    typeof sent[name] === 'object' && isDeeperThan(sent[name], MAX_DEPTH - 1);
  return names.some(isTooDeep) ? TOO_DEEP : undefined;
}

/** A service could send another element at every poll. */
const MAX_RAW_LENGTH = 100_000;
const MAX_ID_LENGTH = 1_000;

const CONFLICT = [{ path: 'league_id', message: 'is sent more than once, with different content' }];

function reject(sent: JsonValue, position: number, problems: readonly Problem[], kept = sent): Rejection {
  const leagueId = readableId(sent);
  const raw = canonicalJson(kept);
  if (raw.length <= MAX_RAW_LENGTH) return { leagueId, position, raw, problems };
  const note = `is too long to be kept (${raw.length} characters)`;
  const part = { league_id: leagueId?.slice(0, MAX_ID_LENGTH) ?? null, note, sha256: hash('sha256', raw) };
  return { leagueId, position, raw: canonicalJson(part), problems };
}

function readableId(sent: JsonValue): string | null {
  const id = isObject(sent) && Object.hasOwn(sent, 'league_id') ? readText(sent.league_id) : undefined;
  return id || null;
}

/** Keeps each usable league once; omits leagues that were also sent with other content or in a rejected element. */
function mergeDuplicates(
  usable: readonly ReceivedLeague[],
  rejections: readonly Rejection[],
): ReadonlyMap<string, ReceivedLeague> {
  const leagues = new Map<string, ReceivedLeague>();
  const conflicting = new Set(rejections.map(({ leagueId }) => leagueId));
  for (const league of usable) {
    const first = leagues.get(league.leagueId);
    if (first === undefined) leagues.set(league.leagueId, league);
    else if (first.hash !== league.hash) conflicting.add(league.leagueId);
  }
  for (const leagueId of conflicting) leagues.delete(leagueId ?? '');
  return leagues;
}

const REJECTIONS_SHOWN = 3;

function assertMostlyValid(rejected: number, received: number, rejections: readonly Rejection[]): void {
  if (rejected * 2 <= received) return;
  const shown = rejections.slice(0, REJECTIONS_SHOWN).map(describeRejection);
  if (rejected > REJECTIONS_SHOWN) shown.push('…');
  throw new ContractError(
    `${rejected} of ${received} leagues cannot be stored, more than half, so nothing was applied: ${shown.join('; ')}`,
  );
}

export function describeRejection({ position, problems }: Rejection): string {
  return `leagues[${position}] ${problems.map(({ path, message }) => `${path} ${message}`.trim()).join(', ')}`;
}

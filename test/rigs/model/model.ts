import { MEMBERS } from './field.ts';
import { canonical, isMap, readJson } from './json.ts';
import type { Cells, ModelList, Scope } from './list.ts';
import type { Model, ModelChange, ModelCounts } from './state.ts';

// A second implementation of sections 3 and 5 of the contract, as simple as possible and independent of the program.

export type ModelPoll = {
  readonly scope: Scope;
  readonly limitPercent: number;
  readonly quiet: readonly string[];
  readonly runId: bigint;
  readonly at: string;
};

export type ModelResult = {
  readonly outcome: string;
  readonly counts: ModelCounts;
  readonly changes: readonly ModelChange[];
};

/** Applies the poll to the model, and returns the expected report. */
export function applyPoll(model: Model, list: ModelList, poll: ModelPoll): ModelResult {
  model.listedBefore.set(poll.at, statusOfListed(model));
  const { removed, held } = decideRemovals(model, list, poll);
  const listed = [...list.leagues].map(([leagueId, cells]) => store(model, leagueId, cells, poll));
  const gone = removed.map((leagueId) => remove(model, leagueId, poll.at));
  endListings(model, [...listed, ...gone]);
  settleHolds(model, list, held, poll);
  settleRejections(model, list, poll);
  for (const [key, exampleLeagueId] of list.drift) {
    const row = { firstRunId: poll.runId, firstSeenAt: poll.at, exampleLeagueId };
    if (!model.drift.has(key)) model.drift.set(key, row);
  }
  const changes = [...listed.filter((change) => change !== undefined), ...gone];
  const countKind = (kind: ModelChange['kind']): number => changes.filter((change) => change.kind === kind).length;
  const counts = {
    received: list.received,
    added: countKind('added'),
    changed: countKind('changed'),
    unchanged: listed.filter((change) => change === undefined).length,
    restored: countKind('restored'),
    rejected: list.rejections.length,
    duplicates: list.duplicates,
    removed: removed.length,
    held: held.length,
  };
  return { outcome: held.length > 0 ? 'held' : changes.length > 0 ? 'changed' : 'unchanged', counts, changes };
}

type Stake = {
  /** Listed leagues that are missing from the response. */
  readonly missing: readonly string[];
  /** The missing ones whose removal has not been accepted. */
  readonly waiting: readonly string[];
  /** The total that the share refers to. */
  readonly of: number;
};

function findStake({ leagues, holds, listedBefore }: Model, list: ModelList, scope: Scope): Stake {
  const isWaiting = (leagueId: string): boolean => (holds.get(leagueId)?.acceptedAt ?? null) === null;
  const inScope = [...leagues]
    .filter(([, { cells, removedAt }]) => removedAt === null && (scope === 'all' || cells.status === scope))
    .map(([leagueId]) => leagueId);
  const named = new Set([...list.leagues.keys(), ...list.rejections.map(({ leagueId }) => leagueId)]);
  const missing = inScope.filter((leagueId) => !named.has(leagueId));
  const before = listedBefore.get(heldWithoutBreakSince(holds) ?? '');
  // Leagues that joined since the guard began to hold do not make the share smaller.
  const counts = (leagueId: string): boolean => {
    if (before === undefined) return true;
    return before.has(leagueId) && (scope === 'all' || before.get(leagueId) === scope);
  };
  // An acceptance ends with the response that lists its league again.
  const going = (leagueId: string): boolean => missing.includes(leagueId) && !isWaiting(leagueId);
  const of = inScope.filter((leagueId) => !going(leagueId)).filter(counts).length;
  return { missing, waiting: missing.filter(isWaiting), of };
}

function heldWithoutBreakSince(holds: Model['holds']): string | undefined {
  const waiting = [...holds.values()].filter((hold) => hold.acceptedAt === null);
  return waiting.map((hold) => hold.guardSince ?? hold.heldSince).sort()[0];
}

/**
 * A league that left the list, or had another status, for a while has not been listed continuously since any earlier
 * poll.
 */
function endListings({ listedBefore }: Model, changes: readonly (ModelChange | undefined)[]): void {
  for (const change of changes) {
    for (const before of listedBefore.values()) {
      if (change?.kind === 'removed') before.delete(change.leagueId);
      else if (change?.kind === 'changed' && 'status' in (change.before ?? {}) && before.has(change.leagueId))
        before.set(change.leagueId, undefined);
    }
  }
}

function statusOfListed({ leagues }: Model): Map<string, unknown> {
  const listed = [...leagues].filter(([, { removedAt }]) => removedAt === null);
  return new Map(listed.map(([leagueId, { cells }]) => [leagueId, cells.status]));
}

/** The share of the leagues in scope that would go, in per cent. */
export function shareAtStake(model: Model, list: ModelList, scope: Scope): number {
  const { waiting, of } = findStake(model, list, scope);
  return of === 0 ? 0 : (waiting.length * 100) / of;
}

/** Contract, 5.4. */
function decideRemovals(model: Model, list: ModelList, { scope, limitPercent }: ModelPoll) {
  const { missing, waiting, of } = findStake(model, list, scope);
  const isComplete = list.rejections.every(({ leagueId }) => leagueId !== null);
  if (!isComplete) return { removed: [], held: missing };
  const emptied = list.received === 0 && waiting.length > 0;
  const tooMany = waiting.length > 5 && waiting.length * 100 > limitPercent * of;
  if (!emptied && !tooMany) return { removed: missing, held: [] };
  return { removed: missing.filter((leagueId) => !waiting.includes(leagueId)), held: waiting };
}

function store({ leagues }: Model, leagueId: string, cells: Cells, poll: ModelPoll): ModelChange | undefined {
  const { at, quiet } = poll;
  const row = leagues.get(leagueId);
  if (row === undefined) {
    leagues.set(leagueId, { cells, firstSeenAt: at, changedAt: at, removedAt: null });
    return { leagueId, kind: 'added', before: null, after: cells };
  }
  const different = MEMBERS.filter((name) => row.cells[name] !== cells[name]);
  const isLoud = different.some((name) => loudPart(row.cells, name, quiet) !== loudPart(cells, name, quiet));
  if (row.removedAt === null && !isLoud) return undefined;
  leagues.set(leagueId, { ...row, cells, changedAt: at, removedAt: null });
  const before = Object.fromEntries(different.map((name) => [name, row.cells[name] ?? null]));
  return { leagueId, kind: row.removedAt === null ? 'changed' : 'restored', before, after: cells };
}

/** What of a member counts as a difference; quiet members of `extra` do not. */
function loudPart(cells: Cells, name: string, quiet: readonly string[]): unknown {
  if (quiet.includes(name)) return null;
  const members = name === 'extra' ? readJson(String(cells.extra)) : undefined;
  if (!isMap(members)) return cells[name];
  return canonical(new Map([...members].filter(([member]) => !quiet.includes(member))));
}

function remove({ leagues }: Model, leagueId: string, at: string): ModelChange {
  const row = leagues.get(leagueId);
  if (row === undefined) throw new Error(`The model has no league ${leagueId}.`);
  leagues.set(leagueId, { ...row, changedAt: at, removedAt: at });
  return { leagueId, kind: 'removed', before: row.cells, after: null };
}

/** A hold ends when its league is listed again, even if rejected, or is removed (contract, 3). */
function settleHolds(
  { leagues, holds }: Model,
  list: ModelList,
  held: readonly string[],
  { runId, at }: ModelPoll,
): void {
  const guardSince = heldWithoutBreakSince(holds) ?? null;
  const listed = new Set([...list.leagues.keys(), ...list.rejections.map(({ leagueId }) => leagueId)]);
  for (const leagueId of [...holds.keys()]) {
    if (listed.has(leagueId) || leagues.get(leagueId)?.removedAt !== null) holds.delete(leagueId);
  }
  const isComplete = list.rejections.every(({ leagueId }) => leagueId !== null);
  const reason = list.received === 0 ? 'empty-list' : isComplete ? 'limit' : 'unreadable-elements';
  for (const leagueId of held) {
    const hold = { firstRunId: runId, heldSince: at, acceptedAt: null, guardSince, reason };
    if (!holds.has(leagueId)) holds.set(leagueId, hold);
  }
}

/**
 * Contract, 3: rejections are opened or reopened if sent, and resolved if a poll of the same or a wider scope does not
 * find them.
 */
function settleRejections({ rejections }: Model, list: ModelList, { scope, runId, at }: ModelPoll): void {
  const sent = new Set(list.rejections.map(({ raw }) => raw));
  for (const [raw, row] of rejections) {
    const speaks = scope === 'all' || scope === row.scope;
    if (row.resolvedAt === null && speaks && !sent.has(raw)) rejections.set(raw, { ...row, resolvedAt: at });
  }
  for (const { raw, leagueId, paths } of list.rejections) {
    const row = rejections.get(raw);
    if (row === undefined) {
      rejections.set(raw, { leagueId, paths, firstRunId: runId, firstSeenAt: at, resolvedAt: null, scope });
    } else if (row.resolvedAt !== null) {
      rejections.set(raw, { ...row, resolvedAt: null, scope });
    }
  }
}

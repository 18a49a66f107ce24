import type { Cell } from './json.ts';
import type { Cells, Scope } from './list.ts';

export type ModelLeague = {
  readonly cells: Cells;
  readonly firstSeenAt: string;
  readonly changedAt: string;
  readonly removedAt: string | null;
};
export type ModelHold = {
  readonly firstRunId: bigint;
  readonly heldSince: string;
  readonly acceptedAt: string | null;
  /** Since when the guard had been holding other removals; null if this one was the first. */
  readonly guardSince: string | null;
  readonly reason: string;
};
export type ModelRejectionRow = {
  readonly leagueId: string | null;
  readonly paths: readonly string[];
  readonly firstRunId: bigint;
  readonly firstSeenAt: string;
  readonly resolvedAt: string | null;
  readonly scope: Scope;
};
export type ModelDrift = {
  readonly firstRunId: bigint;
  readonly firstSeenAt: string;
  readonly exampleLeagueId: string | null;
};
export type ModelChange = {
  readonly leagueId: string;
  readonly kind: 'added' | 'changed' | 'removed' | 'restored';
  readonly before: Readonly<Record<string, Cell>> | null;
  readonly after: Cells | null;
};

/** The expected content of the database. */
export type Model = {
  readonly leagues: Map<string, ModelLeague>;
  readonly holds: Map<string, ModelHold>;
  /** By the element's canonical JSON. */
  readonly rejections: Map<string, ModelRejectionRow>;
  readonly drift: Map<string, ModelDrift>;
  /** What was listed just before each poll, by the poll's timestamp: every league with its status. */
  readonly listedBefore: Map<string, Map<string, unknown>>;
};

export type ModelCounts = Readonly<
  Record<
    'received' | 'added' | 'changed' | 'unchanged' | 'restored' | 'rejected' | 'duplicates' | 'removed' | 'held',
    number
  >
>;
export const NO_COUNTS: ModelCounts = {
  received: 0,
  added: 0,
  changed: 0,
  unchanged: 0,
  restored: 0,
  rejected: 0,
  duplicates: 0,
  removed: 0,
  held: 0,
};

export function createModel(): Model {
  return { leagues: new Map(), holds: new Map(), rejections: new Map(), drift: new Map(), listedBefore: new Map() };
}

/** A departure of the service from the interface. `detail` names types, never values. */
export type Drift = {
  /** `leagues[].name` for a league's field; `leagues.name`, `login.name`, `player.name` for an answer's. */
  readonly field: string;
  readonly kind: 'unknown-field' | 'wrong-type' | 'missing-field' | 'unexpected-value';
  readonly detail: string;
};

/** Collects departures, each once, up to a number that no service reaches that means well. */
export type DriftLog = {
  readonly note: (departures: readonly Drift[]) => void;
  readonly list: () => readonly Drift[];
  /** Forgets departures that have been stored. */
  readonly forget: (stored: readonly Drift[]) => void;
};

const MOST_DEPARTURES = 1_000;

export function createDriftLog(): DriftLog {
  const noted = new Map<string, Drift>();
  const keyOf = (drift: Drift): string => JSON.stringify([drift.field, drift.kind, drift.detail]);
  return {
    note: (departures) => {
      for (const drift of departures) {
        if (noted.size >= MOST_DEPARTURES) return;
        noted.set(keyOf(drift), drift);
      }
    },
    list: () => [...noted.values()],
    forget: (stored) => {
      for (const drift of stored) noted.delete(keyOf(drift));
    },
  };
}

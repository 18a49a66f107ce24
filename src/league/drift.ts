/** A departure of the service from its documented interface. */
export type Drift = {
  /** `leagues[].x` is field x of a league; `leagues.x`, `login.x` and `player.x` are those of the other responses. */
  readonly field: string;
  readonly kind: 'unknown-field' | 'wrong-type' | 'missing-field' | 'unexpected-value';
  /** What was found, such as `number for string`; never a value from the service. */
  readonly detail: string;
  /** A league that shows it, if it concerns a field of a league. */
  readonly example_league_id?: string | null;
};

export type DriftLog = ReturnType<typeof createDriftLog>;

const MAX_ENTRIES = 1_000;
/** A longer id is no example: every entry would repeat it. */
const MAX_ID_LENGTH = 200;

/** Collects drift without duplicates, at most `MAX_ENTRIES` entries. */
export function createDriftLog() {
  const entries = new Map<string, Drift>();
  const keyOf = (drift: Drift): string => JSON.stringify([drift.field, drift.kind, drift.detail]);
  return {
    /** `leagueId` is the league that the departures were found in. */
    add: (departures: readonly Drift[], leagueId?: string | null): void => {
      for (const drift of departures) {
        const key = keyOf(drift);
        if (entries.size >= MAX_ENTRIES || entries.has(key)) continue;
        const example_league_id = leagueId && leagueId.length > MAX_ID_LENGTH ? null : leagueId;
        entries.set(key, example_league_id === undefined ? drift : { ...drift, example_league_id });
      }
    },
    list: (): readonly Drift[] => [...entries.values()],
    remove: (departures: readonly Drift[]): void => {
      for (const drift of departures) entries.delete(keyOf(drift));
    },
  };
}

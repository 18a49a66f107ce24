import { type Change, foldChanges, type Look, type Run } from './snapshot.ts';
import { applyVersion, compareTables, type Table } from './table.ts';
import { readVersion } from './version.ts';

/** An error in a snapshot: `torn`, a partially applied poll; `lost`, what had been seen or reported; or `unclean`. */
export type Problem = string;

/** The counts of a run that the log reported as done. */
export type Report = Readonly<Record<'added' | 'changed' | 'removed' | 'restored', unknown>>;

/** The known contents of a database, to which each snapshot may only add. */
export type Ledger = ReturnType<typeof createLedger>;

const ENDS = ['changed', 'interrupted'];

export function createLedger(size: number) {
  let known: readonly Run[] = [];
  let applied: readonly Run[] = [];
  let folded: Table = new Map();
  let lastSeq = 0;
  let published = 0;
  /** The table after each applied run, and the number of changes up to it. */
  const states: { readonly table: Table; readonly changes: number }[] = [{ table: new Map(), changes: 0 }];

  const stateAfter = (count: number) => states[count] ?? { table: new Map<never, never>(), changes: -1 };
  const extend = (runs: readonly Run[]): void => {
    for (const run of runs.slice(applied.length)) {
      const before = stateAfter(states.length - 1);
      const { table, changes } = applyVersion(before.table, { version: readVersion(run.message), at: run.at }, size);
      states.push({ table, changes: before.changes + changes });
    }
    applied = runs;
  };
  const learn = (look: Look, latest: number): readonly Problem[] => {
    const { runs, changes } = look;
    if (soundness(look).length > 0) return soundness(look);
    const now = runs.filter(({ outcome }) => outcome === 'changed');
    const problems = [...judgeRuns(known, runs), ...judgeVersions(now, latest)];
    if (problems.length > 0) return problems;
    extend(now);
    known = runs;
    folded = foldChanges(folded, changes);
    lastSeq = changes.at(-1)?.seq ?? lastSeq;
    const { table, changes: count } = stateAfter(now.length);
    return [
      ...torn('the table', compareTables(look.table, table)),
      ...torn('the feed, folded,', compareTables(folded, look.table)),
      ...torn('the length of the feed', look.changesInAll === count ? undefined : `${look.changesInAll}, not ${count}`),
    ];
  };
  return {
    /** Compares a snapshot with the known contents, adds its news, and returns the errors. */
    learn: (look: Look | undefined, latest: number) => (look === undefined ? judgeNothing(known) : learn(look, latest)),
    /** Compares a copy, which may be older than the database but not than an earlier copy. */
    judgeCopy: (copy: Look | undefined): readonly Problem[] => {
      if (copy === undefined) return published === 0 ? [] : ['lost: the published copy is gone'];
      if (soundness(copy).length > 0) return soundness(copy);
      const runs = copy.runs.filter(({ outcome }) => outcome === 'changed');
      const isPast = runs.every((run, index) => JSON.stringify(run) === JSON.stringify(applied[index]));
      if (!isPast) return ['torn: the published copy is of no state of the database'];
      if (runs.length < published) return ['lost: the published copy is older than the one before'];
      published = runs.length;
      const { table, changes } = stateAfter(runs.length);
      const length = copy.changesInAll === changes ? undefined : `${copy.changesInAll}, not ${changes}`;
      return [
        ...torn('the published table', compareTables(copy.table, table)),
        ...torn('the length of the published feed', length),
      ];
    },
    /** Compares the reports with the runs that were applied after the first `since`. */
    judgeReports: (reports: readonly Report[], since: number): readonly Problem[] =>
      reports.flatMap((report, index) => {
        const run = applied[since + index];
        return run !== undefined && sameCounts(run, report)
          ? []
          : [`lost: reported ${JSON.stringify(report)}, found ${JSON.stringify(run)}`];
      }),
    /** Re-checks the whole feed. */
    judgeFeed: (whole: Look | undefined): readonly Problem[] => {
      const table = foldChanges(new Map(), whole?.changes ?? []);
      return [
        ...torn('the whole feed, folded,', compareTables(table, stateAfter(applied.length).table)),
        ...torn('the feed by its runs', compareCounts(applied, whole?.changes ?? [])),
      ];
    },
    lastSeq: () => lastSeq,
    /** The runs that were applied, oldest first. */
    applied: () => applied,
    /** The unfinished runs. */
    running: () => known.filter(({ outcome }) => outcome === 'running').map(({ id }) => id),
    outcomeOf: (id: number) => known.find((run) => run.id === id)?.outcome,
    /** The number of applied runs in the last copy. */
    published: () => published,
  };
}

function torn(what: string, how: string | undefined): readonly Problem[] {
  return how === undefined ? [] : [`torn: ${what}: ${how}`];
}

function soundness({ integrity, brokenReferences }: Look): readonly Problem[] {
  const integer = integrity === 'ok' && brokenReferences === 0;
  return torn('the file', integer ? undefined : `${integrity}, ${brokenReferences} broken references`);
}

/** The errors of a database without tables, which must never have had rows. */
function judgeNothing(known: readonly Run[]): readonly Problem[] {
  return known.length === 0 ? [] : ['lost: the database is gone'];
}

/** Ended runs must be unchanged, at most the last may be running, and none may have failed. */
function judgeRuns(known: readonly Run[], runs: readonly Run[]): readonly Problem[] {
  const now = new Map(runs.map((run) => [run.id, JSON.stringify(run)]));
  const changed = known.filter((run) => run.outcome !== 'running' && now.get(run.id) !== JSON.stringify(run));
  const gone = known.filter(({ id }) => !now.has(id));
  const odd = runs.filter(
    ({ outcome }, index) => !ENDS.includes(outcome) && !(outcome === 'running' && index === runs.length - 1),
  );
  return [
    ...[...changed, ...gone].map((run) => `lost: no more as it was: ${JSON.stringify(run)}`),
    ...odd.map((run) => `unclean: a run that ${JSON.stringify(run)}`),
  ];
}

/** Versions must increase, and must have been sent by the service. */
function judgeVersions(applied: readonly Run[], latest: number): readonly Problem[] {
  const versions = applied.map(({ message }) => readVersion(message));
  const inOrder = versions.every(
    (version, index) => version <= latest && !(version <= (versions[index - 1] ?? Number.NEGATIVE_INFINITY)),
  );
  return inOrder ? [] : [`torn: versions ${versions.join(', ')}, of ${latest}`];
}

const COUNTED = ['added', 'changed', 'removed', 'restored'] as const;

function sameCounts(run: Report, report: Report): boolean {
  return COUNTED.every((name) => run[name] === report[name]);
}

/** Each applied run must have as many changes of each kind in the feed as its row counts, and no other run any. */
function compareCounts(applied: readonly Run[], changes: readonly Change[]): string | undefined {
  const found = Map.groupBy(changes, ({ run_id, kind }) => `${run_id} ${kind}`);
  const told = applied.flatMap((run) => COUNTED.map((kind) => [`${run.id} ${kind}`, run[kind]] as const));
  const wrong = told.filter(([name, count]) => (found.get(name)?.length ?? 0) !== count);
  const inAll = told.reduce((sum, [, count]) => sum + count, 0);
  if (wrong.length > 0) return wrong.join('; ');
  return inAll === changes.length ? undefined : `${changes.length} changes, of which ${inAll} are of applied runs`;
}

import type { DatabaseError } from '../errors.ts';
import { type Attention, type Freshness, isNote, type OutputStatus } from '../store/queries/overview.ts';
import type { OutputName } from '../store/tables/outputs.ts';
import { formatAge } from '../time/duration.ts';

/** The reasons that `/readyz` gives if the worker is not ready. */
export const REASONS = ['starting', 'no-good-poll', 'stale', 'credentials-refused', 'database'] as const;

export type Reason = { readonly reason: (typeof REASONS)[number]; readonly message: string };

export type HealthInput = {
  /** The rows of the view `attention`. */
  readonly attention: readonly Attention[];
  /** `loading`: the first poll has not ended. `never`: no poll has succeeded. Undefined if the data is fresh. */
  readonly staleness: 'loading' | 'never' | { readonly ageMs: number } | undefined;
  /** Set if the service refuses the credentials (`byService`), or if the files with the credentials cannot be read. */
  readonly refused?: { readonly message: string; readonly byService: boolean } | undefined;
  readonly databaseFault?: Pick<DatabaseError, 'message' | 'condition'> | undefined;
  readonly freshness: Pick<Freshness, 'live_leagues'> | undefined;
};

/** Shared by the page, `status`, `/readyz`, `/status.json` and the metrics. */
export type Verdict = {
  /** `good`: up to date. `warning`: up to date, with issues. `loading`: no poll has ended yet. `bad`: anything else. */
  readonly state: 'good' | 'warning' | 'loading' | 'bad';
  /** A sentence without a full stop, such as `Up to date, but 44 removals are held`. */
  readonly headline: string;
  readonly ready: boolean;
  /** Empty if ready. */
  readonly reasons: readonly Reason[];
};

export function assess(input: HealthInput): Verdict {
  const problems = findProblems(input);
  const [worst] = problems;
  if (worst === undefined) {
    // A poll of the leagues and one of the profile may both have been cut short.
    const warnings = [...new Set(input.attention.filter((row) => !isNote(row)).map(describeWarning))];
    const headline = input.freshness?.live_leagues === 0 ? 'Up to date: the service lists no leagues' : 'Up to date';
    if (warnings.length === 0) return { state: 'good', headline, ready: true, reasons: [] };
    return { state: 'warning', headline: `Up to date, but ${LIST.format(warnings)}`, ready: true, reasons: [] };
  }
  const reasons = problems.map(({ reason, message }) => ({ reason, message }));
  const state = worst.reason === 'no-good-poll' && input.staleness === 'loading' ? 'loading' : 'bad';
  return { state, headline: worst.headline, ready: false, reasons };
}

export const STARTING: Verdict = {
  state: 'loading',
  headline: 'Starting',
  ready: false,
  reasons: [{ reason: 'starting', message: 'The database is not open yet.' }],
};

type Problem = Reason & { readonly headline: string };

/** The problems that keep the worker from being ready, the worst first. */
function findProblems({ attention, staleness, refused, databaseFault }: HealthInput): readonly Problem[] {
  const problems: Problem[] = [];
  if (databaseFault !== undefined) {
    const headline = `The database ${databaseFault.condition ?? 'cannot be used'}`;
    problems.push({ reason: 'database', message: databaseFault.message, headline });
  }
  if (refused !== undefined) {
    const headline = refused.byService ? 'The service refuses the credentials' : 'The credentials cannot be read';
    problems.push({ reason: 'credentials-refused', message: refused.message, headline });
  }
  if (staleness === undefined) return problems;
  const summaryOf = (wanted: Attention['what']) => attention.find(({ what }) => what === wanted)?.summary;
  const stale = summaryOf('stale') ?? 'No poll of the leagues has succeeded in time.';
  // The problems above already say why polls fail.
  const cause = problems.length === 0 ? summaryOf('failing') : undefined;
  const message = cause === undefined ? stale : `${stale} ${cause}`;
  const reason = typeof staleness === 'string' ? 'no-good-poll' : 'stale';
  return [...problems, { reason, message, headline: describeStaleness(staleness) }];
}

function describeStaleness(staleness: NonNullable<HealthInput['staleness']>): string {
  if (staleness === 'loading') return 'Loading the leagues for the first time';
  if (staleness === 'never') return 'Stale: no poll has succeeded yet';
  return `Stale: the last good poll was ${formatAge(staleness.ageMs)}`;
}

const LIST = new Intl.ListFormat('en-GB');

/** A later version may have added another `what`. */
const describeWarning = ({ what, count }: Attention): string =>
  isOutput(what)
    ? OUTPUTS[what].warning
    : (WARNINGS[what]?.(count ?? 1) ?? `${what.replaceAll('-', ' ')} needs attention`);

const WARNINGS: Readonly<Partial<Record<string, (count: number) => string>>> = {
  failing: (count) => (count === 1 ? 'the last poll failed' : `the last ${count} polls failed`),
  'credentials-refused': () => 'the service refuses the credentials',
  'held-removals': (count) => (count === 1 ? '1 removal is held' : `${count} removals are held`),
  'rejected-leagues': (count) =>
    count === 1 ? '1 list element cannot be stored' : `${count} list elements cannot be stored`,
  drift: () => 'the service began to depart from its interface',
  interrupted: () => 'a poll was cut short',
};

/** How people call each output, what it does, and what its row of `attention` means. */
export const OUTPUTS = {
  webhook: { title: 'webhook', done: 'accepted', warning: 'the webhook accepts nothing' },
  mirror: { title: 'mirror', done: 'written', warning: 'the mirror is out of date' },
  copy: { title: 'published copy', done: 'made', warning: 'the published copy is out of date' },
} as const satisfies Readonly<Record<OutputName, object>>;

const isOutput = (what: string): what is OutputName => Object.hasOwn(OUTPUTS, what);

/** `failing` until a step succeeds; `noted`: it works, but has left something out, which `last_error` says. */
export function outputCondition({ stopped_at, failed_attempts, last_error }: OutputStatus) {
  if (stopped_at !== null) return 'stopped';
  if (failed_attempts > 0) return 'failing';
  return last_error === null ? 'well' : 'noted';
}

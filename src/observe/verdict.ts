import type { DatabaseError } from '../errors.ts';
import { type Attention, type Freshness, isNote, type OutputStatus } from '../store/queries/overview.ts';
import type { OutputName } from '../store/tables/outputs.ts';
import { plural } from '../terminal/text.ts';
import { formatAge, formatCount } from '../time/duration.ts';

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
    const warnings = describeWarnings(input.attention);
    const headline = input.freshness?.live_leagues === 0 ? 'Up to date: the service lists no leagues' : 'Up to date';
    if (warnings.length === 0) return { state: 'good', headline, ready: true, reasons: [] };
    const [first, ...others] = warnings;
    const more = others.length === 0 ? '' : ` (and ${plural(others.length, 'other problem')})`;
    return { state: 'warning', headline: `Up to date, but ${first}${more}`, ready: true, reasons: [] };
  }
  const reasons = problems.map(({ reason, message }) => ({ reason, message }));
  const state = worst.reason === 'no-good-poll' && input.staleness === 'loading' ? 'loading' : 'bad';
  return { state, headline: worst.headline, ready: false, reasons };
}

/** What is wrong, if anything is, in the fewest words. */
export const briefHeadline = ({ headline }: Pick<Verdict, 'headline'>): string =>
  headline.replace('Up to date, but ', '').replace(/:.*/, '');

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
  const find = (wanted: Attention['what']) => attention.find(({ what }) => what === wanted);
  const stale = find('stale')?.summary ?? 'No poll of the leagues has succeeded in time.';
  // The problems above already say why polls fail.
  const cause = problems.length === 0 ? find('failing')?.summary : undefined;
  const message = cause === undefined ? stale : `${stale} ${cause}`;
  const reason = typeof staleness === 'string' ? 'no-good-poll' : 'stale';
  const brief = cause === undefined ? undefined : briefCause(cause);
  return [...problems, { reason, message, headline: describeStaleness(staleness, brief) }];
}

function describeStaleness(staleness: NonNullable<HealthInput['staleness']>, cause: string | undefined): string {
  if (staleness === 'loading') return 'Stale: the first poll has not ended';
  if (staleness === 'never') return `Stale: ${cause ?? 'no poll has succeeded'}`;
  return `Stale: ${cause ?? `the last good poll was ${formatAge(staleness.ageMs)}`}`;
}

const PROXY_FAILS = 'the proxy cannot be used';
const CAUSES: readonly (readonly [pattern: RegExp, cause: string])[] = [
  [/refuse[sd] the (login|credentials)/, 'the service refuses the credentials'],
  [/took longer|timed out|deadline/, 'the service does not answer in time'],
  // The words `through the proxy` stand in every failure where one is used.
  [/failed: [^(]*proxy/, PROXY_FAILS],
  [/host name cannot be resolved/, 'the name of the service is not known'],
  [/certificate|TLS/, 'the connection is not secure'],
  [/ failed: /, 'the service cannot be reached'],
  [/response|answer|list/, 'the answer cannot be used'],
];

/** Why polls failed in a few words, without particulars, from an error or `attention`; undefined if there are none. */
export function briefCause(text: string): string | undefined {
  // What the service itself says may hold any words, as may the path of a database.
  const message = text.replace(/^The last .*? of the leagues failed: /, '').replace(/ It says: .*/s, '');
  if (message.startsWith('The database ')) return undefined;
  const status = /(?:answered .*|\()(?:with )?status ([3-5]\d\d)\b/.exec(message)?.[1];
  const [, cause] = CAUSES.find(([pattern]) => pattern.test(message)) ?? [];
  const isService = status !== undefined && cause !== CAUSES[0]?.[1] && cause !== PROXY_FAILS;
  return isService ? `the service answers ${status}` : cause;
}

/** A refused login is also why polls fail, and polls of both kinds may have been cut short. */
export function describeWarnings(attention: readonly Attention[]): readonly string[] {
  const rows = worstFirst(withoutRepeated(attention.filter((row) => !isNote(row))));
  return [...new Set(rows.map(describeWarning))];
}

export function worstFirst(attention: readonly Attention[]): readonly Attention[] {
  const names = ['stale', ...Object.keys(WARNINGS)];
  const rank = ({ what }: Attention): number => (names.includes(what) ? names.indexOf(what) : names.length);
  return attention.toSorted((one, other) => rank(one) - rank(other));
}

/** Without `failing` where the refused login, which is its cause, has a row of its own. */
export const withoutRepeated = (attention: readonly Attention[]): readonly Attention[] =>
  attention.some(({ what }) => what === 'credentials-refused')
    ? attention.filter(({ what, summary }) => what !== 'failing' || !summary.endsWith(REFUSED))
    : attention;

/** Without the advice at the end of a message, where the advice of `attention` says the same. */
export const withoutSettings = (message: string): string => message.replace(/; check LEAGUE_SYNC_[^.]*/, '');

/** How the view ends a summary of polls that fail for that reason. */
const REFUSED = ': the service refuses the credentials.';

/** A later version may have added another `what`. */
const describeWarning = ({ what, count }: Attention): string =>
  WARNINGS[what]?.(count ?? 1) ?? `${what.replaceAll('-', ' ')} needs attention`;

/** The worst first. */
const WARNINGS: Readonly<Partial<Record<string, (count: number) => string>>> = {
  'credentials-refused': () => 'the service refuses the credentials',
  failing: (count) => (count === 1 ? 'the last poll failed' : `the last ${count} polls failed`),
  'held-removals': (count) => (count === 1 ? '1 removal is held' : `${formatCount(count)} removals are held`),
  'rejected-leagues': (count) => `${plural(count, 'list element')} cannot be stored`,
  webhook: () => 'the webhook accepts nothing',
  mirror: () => 'the mirror is out of date',
  copy: () => 'the published copy is out of date',
  interrupted: () => 'a poll was cut short',
  drift: () => 'the format of the answers changed',
};

/** How people call each output, and what it does. */
export const OUTPUTS = {
  webhook: { title: 'webhook', done: 'accepted' },
  mirror: { title: 'mirror', done: 'written' },
  copy: { title: 'published copy', done: 'made' },
} as const satisfies Readonly<Record<OutputName, object>>;

/** Why an output fails, without its name, with which its error may begin. */
export const causeOf = ({ last_error }: Pick<OutputStatus, 'last_error'>): string =>
  (last_error ?? 'not known why').replace(/^The mirror at .*? cannot be used: /, '').replace(/\.$/, '');

/** `failing` until a step succeeds; `noted`: it works, but has left something out, which `last_error` says. */
export function outputCondition({ stopped_at, failed_attempts, last_error }: OutputStatus) {
  if (stopped_at !== null) return 'stopped';
  if (failed_attempts > 0) return 'failing';
  return last_error === null ? 'well' : 'noted';
}

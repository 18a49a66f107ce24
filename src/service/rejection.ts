import { ContractError } from '../errors.ts';
import { isObject } from '../json.ts';
import { LEAGUE_FIELDS } from '../league.ts';
import type { JsonText } from '../record.ts';
import type { Stretches } from '../stretches.ts';
import type { Problem } from './field.ts';
import type { Elements } from './listing.ts';

/** An element of the list that cannot be stored. */
export type Rejection = {
  /** Null where it is unreadable, so that nobody can say which league is meant. */
  readonly leagueId: string | null;
  /** Place in the list, from 0. */
  readonly position: number;
  readonly problems: readonly Problem[];
  /** The element as canonical JSON. */
  readonly raw: JsonText;
};

const MANY_REJECTIONS = 50_000;
/** Null, or absent, these reject an element. */
const REQUIRED: readonly string[] = LEAGUE_FIELDS.flatMap(({ name, presence }) =>
  presence === 'required' ? [name] : [],
);

/** How many elements a failure describes; the rest are counted. */
const PROBLEMS_SHOWN = 3;

/** So many elements are looked at before there may be a pause; a list of fewer has none. */
export const STRIDE = 512;

/** Whether so much of a long list has been rejected that the rest need not be described. */
export function isHopeless(rejections: readonly Rejection[], { length }: Elements): boolean {
  return rejections.length > MANY_REJECTIONS && isMostlyRejected(rejections, length);
}

/**
 * A list of millions that are no leagues would take minutes and gigabytes to describe: the few that a failure describes
 * are enough, and a look at each of the others tells whether it is one, too.
 */
export function* describeHopeless(rejections: readonly Rejection[], elements: Elements): Stretches<ContractError> {
  let rejected = rejections.length;
  for (let position = (rejections.at(-1)?.position ?? 0) + 1; position < elements.length; position += 1) {
    if (position % STRIDE === 0) yield;
    const { value } = elements.read(position);
    if (!isObject(value) || REQUIRED.some((name) => (value[name] ?? null) === null)) rejected += 1;
  }
  return mostlyRejected(rejected, elements.length, rejections);
}

/** One of each: an element that is sent again is a duplicate, as one that can be stored is (contract, 5.2). */
export function distinct(rejections: readonly Rejection[]): readonly Rejection[] {
  const byContent = new Map<JsonText, Rejection>();
  for (const rejection of rejections) if (!byContent.has(rejection.raw)) byContent.set(rejection.raw, rejection);
  return [...byContent.values()];
}

export function isMostlyRejected(rejections: readonly Rejection[], received: number): boolean {
  return rejections.length * 2 > received;
}

/** Throws a ContractError where more than half of a list has been rejected. */
export function refuseMostlyRejected({ received, rejections }: Counted): void {
  if (isMostlyRejected(rejections, received)) throw mostlyRejected(rejections.length, received, rejections);
}

function mostlyRejected(rejected: number, received: number, first: readonly Rejection[]): ContractError {
  const shown = first.slice(0, PROBLEMS_SHOWN).map(describe);
  return new ContractError(
    `${rejected} of ${received} leagues cannot be stored, more than half, so nothing was applied: ${shown.join('; ')}${rejected > PROBLEMS_SHOWN ? '; …' : ''}`,
  );
}

function describe({ position, problems }: Rejection): string {
  return `leagues[${position}] ${problems.map(({ path, message }) => `${path} ${message}`.trim()).join(', ')}`;
}

type Counted = { readonly received: number; readonly rejections: readonly Rejection[] };

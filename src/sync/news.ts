import type { Drift } from '../drift.ts';
import type { Rejection } from '../service/leagues.ts';

/** What a run found that no run before it had: rows of `drift` and `rejected_leagues` that it added or reopened. */
export type News = { readonly drift: Several<Drift>; readonly rejections: Several<NewRejection> };

export type NewRejection = Omit<Rejection, 'raw'>;

/** How many, and the first of them. */
export type Several<T> = { readonly count: number; readonly first: readonly T[] };

type Found = { readonly drift: readonly Drift[]; readonly rejections: readonly Rejection[] };

const MOST_NAMED = 3;
const MOST_PROBLEMS = 3;
const LONGEST_NAME = 100;

/** Names and ids are the service's, so they are cut, and cleared of secrets. */
export function newsOf({ drift, rejections }: Found, scrub: (text: string) => string): News {
  const name = (sent: string): string => cut(scrub(sent));
  return {
    drift: several(drift, (one) => ({ ...one, field: name(one.field) })),
    rejections: several(rejections, ({ leagueId, position, problems }) => ({
      leagueId: leagueId === null ? null : name(leagueId),
      position,
      problems: problems.slice(0, MOST_PROBLEMS),
    })),
  };
}

function several<T, Named>(all: readonly T[], describe: (one: T) => Named): Several<Named> {
  return { count: all.length, first: all.slice(0, MOST_NAMED).map(describe) };
}

function cut(text: string): string {
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text;
}

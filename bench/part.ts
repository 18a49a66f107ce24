/** How many leagues the goals for large lists are for. */
export const GOAL_LEAGUES = 100_000;

/** How the command was called. */
export type Options = {
  readonly rounds: number;
  /** How many leagues the contestants are compared at. */
  readonly leagues: number;
  /** How many polls the year has. */
  readonly polls: number;
  /** Where all databases and lists are put, so that everybody writes to one file system. */
  readonly folder: string;
};

/** What issue and documents promise of a figure: the median of `values` has to be `must` at most. */
export type Goal = {
  readonly what: string;
  /** One of each round. */
  readonly values: readonly number[];
  readonly unit: string;
  readonly must: number;
  readonly aim?: number;
};

/** Stands below the text where files are written. */
export type Picture = {
  readonly file: string;
  /** What it shows, for who does not see it. */
  readonly alt: string;
  readonly svg: string;
};

export type Findings = {
  /** Instead of the part's, where something else was measured than that says. */
  readonly title?: string;
  readonly goals: readonly Goal[];
  /** Why the goals cannot be judged, as a sentence, where something else was measured than they are for. */
  readonly unjudged?: string | undefined;
  /** Markdown, without a heading. */
  readonly text: string;
  readonly pictures?: readonly Picture[];
};

/** A part of the benchmark, which can be measured by itself. */
export type Part = {
  readonly name: string;
  readonly title: string;
  /** Programs of the system that it runs. */
  readonly needs?: readonly string[];
  readonly measure: (options: Options) => Promise<Findings>;
};

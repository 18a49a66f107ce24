import type { Chart } from './support/chart.ts';

/** The number of leagues that the goals for large lists refer to. */
export const GOAL_LEAGUES = 100_000;

/** How the command was called. */
export type Options = {
  readonly rounds: number;
  /** The number of leagues in the comparison of contestants. */
  readonly leagues: number;
  /** The number of polls in the year. */
  readonly polls: number;
  /** The folder of all databases and lists, so that all programs write to one file system. */
  readonly folder: string;
};

/** A documented performance goal: the median of `values` must be at most `must`. */
export type Goal = {
  readonly what: string;
  /** One value per round. */
  readonly values: readonly number[];
  readonly unit: string;
  readonly must: number;
  readonly aim?: number;
};

/** A picture below the text if files are written. */
export type Picture = {
  readonly file: string;
  /** A description of the picture for screen readers. */
  readonly alt: string;
  readonly chart: Chart;
};

export type Findings = {
  /** Replaces the part's title if something else was measured. */
  readonly title?: string;
  readonly goals: readonly Goal[];
  /** Why the goals do not apply, as a sentence, if the measurement is not the one that they refer to. */
  readonly unjudged?: string | undefined;
  /** Markdown, without a heading. */
  readonly text: string;
  readonly pictures?: readonly Picture[];
};

/** A part of the benchmark, which can be measured by itself. */
export type Part = {
  readonly name: string;
  readonly title: string;
  /** Programs that must be installed. */
  readonly needs?: readonly string[];
  readonly measure: (options: Options) => Promise<Findings>;
};

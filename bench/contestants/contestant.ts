import type { Lists } from '../support/leagues.ts';
import type { Command } from '../support/timed.ts';

/** Where a contestant works in one round, and for whom. */
export type Place = { readonly database: string; readonly url: string };

/** What a program does, one after the other on the same database. */
export type Work = 'first load' | 'again, nothing changed' | 'again, 1 % changed';

/** A program that brings a database to what a list says. */
export type Contestant = {
  readonly name: string;
  /** All where nothing is said. */
  readonly works?: readonly Work[];
  /** Makes what has to be there before the first list; not timed. */
  readonly prepare?: (place: Place) => void;
  readonly command: (place: Place, lists: Lists) => Command;
};

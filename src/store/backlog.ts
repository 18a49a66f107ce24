import type Database from 'better-sqlite3';
import { codeOf } from '../errors.ts';

/** Writes that the disk did not take, in their order, until it does. */
export type Backlog = {
  readonly add: (work: () => void) => void;
  readonly isEmpty: () => boolean;
  /** Does them inside a transaction that is open; they are kept until `forget`. */
  readonly apply: () => void;
  /** For when that transaction is on the disk. */
  readonly forget: () => void;
};

/** About a month of polls of every five minutes; what is older gives way. */
const MOST_WRITES = 10_000;

export function createBacklog(client: Database.Database): Backlog {
  let kept: readonly (() => void)[] = [];
  let refused: readonly (() => void)[] = [];
  /** What the database refuses, and not the disk (another program's trigger), must not keep polls from being written. */
  const isRefused = (work: () => void): boolean => {
    try {
      client.transaction(work)();
      return false;
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_CONSTRAINT')) throw error;
      if (client.inTransaction) return true;
      // A trigger that rolls back all of it: what followed would be written one by one. Next time without this work.
      kept = kept.filter((other) => other !== work);
      throw error;
    }
  };
  return {
    add: (work) => {
      kept = [...kept, work].slice(-MOST_WRITES);
    },
    isEmpty: () => kept.length === 0,
    apply: () => {
      refused = kept.filter(isRefused);
    },
    forget: () => {
      kept = refused;
    },
  };
}

import type { AlterationContext } from './alteration.ts';
import type { Answer, Endpoint } from './answer.ts';
import { faults } from './fault.ts';
import type { TokenIssuer } from './token.ts';

export type Switchboard = {
  /** Throws a RangeError, naming the known faults, where there is no such fault. */
  set(name: string, on: boolean): void;
  has(name: string): boolean;
  /** Switches all of them off. */
  clear(): void;
  /** The names of the faults that are on, in the table's order. */
  active(): string[];
  /** What a fault answers in place of the service, if one does. */
  answerInstead(endpoint: Endpoint): Answer | undefined;
  /** The answer after every fault that is on has had its way with it. */
  alter(answer: Answer, context: AlterationContext): Answer;
};

/** Holds which faults are on. */
export function createSwitchboard(tokens: TokenIssuer): Switchboard {
  const on = new Set<string>();
  const activeFaults = () => faults.filter((fault) => on.has(fault.name));
  return {
    set(name, wanted) {
      const fault = faults.find((known) => known.name === name);
      if (fault === undefined) throw new RangeError(unknownFault(name));
      if (!wanted) {
        on.delete(name);
        return;
      }
      on.add(name);
      fault.onSwitchedOn?.(tokens);
    },
    clear: () => on.clear(),
    has: (name) => faults.some((known) => known.name === name),
    active: () => activeFaults().map((fault) => fault.name),
    answerInstead(endpoint) {
      for (const fault of activeFaults()) {
        const answer = fault.instead?.(endpoint);
        if (answer !== undefined) return answer;
      }
      return undefined;
    },
    alter: (answer, context) =>
      activeFaults().reduce((altered, fault) => fault.alter?.(altered, context) ?? altered, answer),
  };
}

function unknownFault(name: string): string {
  return `no fault is called ${name}; known: ${faults.map((fault) => fault.name).join(', ')}`;
}

import type { Fate, Fault } from './sweep-fault.ts';
import type { Endpoint } from './sweep-response.ts';
import type { Reach } from './sweep-service.ts';

/** The requests of a worker's first visit where nothing is wrong. */
export const VISIT = ['login', 'leagues', 'profile'] as const satisfies readonly Endpoint[];

/** One request on the way of a run, and whether it meets the fault. */
export type Step = { readonly kind: Endpoint; readonly hit: boolean };

/** What a run that meets a fault comes to, and what it sends on the way. */
export type Course = {
  readonly steps: readonly Step[];
  /** Undefined if the run succeeds in the end. */
  readonly failure: Fate | undefined;
  /** Requests for what the run is about. */
  readonly attempts: number;
};

const MOST_ATTEMPTS = 4;

/** The way of the run that the n-th request of a visit belongs to, where that one meets the fault. */
export function planExpectation(fault: Fault, nth: number, reach: Reach): Course {
  const target = VISIT[nth - 1];
  const fate = target === undefined ? undefined : fault.fates[target];
  if (target === undefined || fate === undefined) throw new Error(`${fault.name} is no fault of request ${nth}`);
  const about = target === 'profile' ? 'profile' : 'leagues';
  const before: readonly Step[] = target === 'leagues' ? [{ kind: 'login', hit: false }] : [];
  const after: readonly Step[] = target === 'login' ? [{ kind: 'leagues', hit: false }] : [];
  const { hits, failure } = meet(target, fate, reach, fault);
  const steps = [...before, ...hits, ...(failure === undefined ? after : [])];
  return { steps, failure, attempts: steps.filter(({ kind }) => kind === about).length };
}

function meet(
  kind: Endpoint,
  fate: Fate,
  reach: Reach,
  fault: Fault,
): Pick<Course, 'failure'> & { hits: readonly Step[] } {
  const hit = { kind, hit: true };
  const good = { kind, hit: false };
  const login = { kind: 'login' as const, hit: false };
  switch (fate.is) {
    case 'harmless':
      return { hits: [hit], failure: undefined };
    case 'passes':
      if (reach === 'once') return { hits: [hit, good], failure: undefined };
      return { hits: Array.from({ length: MOST_ATTEMPTS }, () => hit), failure: fate };
    case 'rejected':
      if (reach === 'once') return { hits: [hit, login, good], failure: undefined };
      if (reach === 'for ever there') return { hits: [hit, login, hit], failure: fate };
      return { hits: [hit, { ...login, hit: true }], failure: fault.fates.login ?? fate };
    default:
      return { hits: [hit], failure: fate };
  }
}

/** What the table `logins` must say about a login. */
export function loginOutcome({ hit }: Step, fault: Fault): 'ok' | 'refused' | 'failed' {
  const fate = hit ? fault.fates.login?.is : 'harmless';
  if (fate === 'harmless') return 'ok';
  return fate === 'refused' ? 'refused' : 'failed';
}

/** A token that is rejected for ever is another story than a service that refuses everything, logins too. */
export function reachesOf(fault: Fault, nth: number): readonly Reach[] {
  const kind = VISIT[nth - 1];
  const rejects = kind !== undefined && fault.fates[kind]?.is === 'rejected';
  return rejects ? ['once', 'for ever', 'for ever there'] : ['once', 'for ever'];
}

import type { Effect, Fault } from './fault.ts';
import type { Endpoint } from './response.ts';
import type { FaultScope } from './service.ts';

/** The requests of a worker's first visit to a healthy service. */
export const VISIT = ['login', 'leagues', 'profile'] as const satisfies readonly Endpoint[];

/** One request of a run, and whether it meets the fault. */
export type Step = { readonly kind: Endpoint; readonly hit: boolean };

/** The expected result of a run that meets a fault, and the requests it sends. */
export type ExpectedRun = {
  readonly steps: readonly Step[];
  /** Undefined if the run succeeds in the end. */
  readonly failure: Effect | undefined;
  /** Requests for the resource that the run polls. */
  readonly attempts: number;
};

const MOST_ATTEMPTS = 4;

/** The expected run if the n-th request of a visit meets the fault. */
export function planExpectedRun(fault: Fault, nth: number, faultScope: FaultScope): ExpectedRun {
  const target = VISIT[nth - 1];
  const effect = target === undefined ? undefined : fault.effects[target];
  if (target === undefined || effect === undefined) throw new Error(`${fault.name} is no fault of request ${nth}`);
  const about = target === 'profile' ? 'profile' : 'leagues';
  const before: readonly Step[] = target === 'leagues' ? [{ kind: 'login', hit: false }] : [];
  const after: readonly Step[] = target === 'login' ? [{ kind: 'leagues', hit: false }] : [];
  const { hits, failure } = meet(target, effect, faultScope, fault);
  const steps = [...before, ...hits, ...(failure === undefined ? after : [])];
  return { steps, failure, attempts: steps.filter(({ kind }) => kind === about).length };
}

function meet(
  kind: Endpoint,
  effect: Effect,
  faultScope: FaultScope,
  fault: Fault,
): Pick<ExpectedRun, 'failure'> & { hits: readonly Step[] } {
  const hit = { kind, hit: true };
  const good = { kind, hit: false };
  const login = { kind: 'login' as const, hit: false };
  switch (effect.is) {
    case 'harmless':
      return { hits: [hit], failure: undefined };
    case 'passes':
      if (faultScope === 'once') return { hits: [hit, good], failure: undefined };
      return { hits: Array.from({ length: MOST_ATTEMPTS }, () => hit), failure: effect };
    case 'rejected':
      if (faultScope === 'once') return { hits: [hit, login, good], failure: undefined };
      if (faultScope === 'for ever there') return { hits: [hit, login, hit], failure: effect };
      return { hits: [hit, { ...login, hit: true }], failure: fault.effects.login ?? effect };
    default:
      return { hits: [hit], failure: effect };
  }
}

/** The expected `outcome` of the row in `logins`. */
export function loginOutcome({ hit }: Step, fault: Fault): 'ok' | 'refused' | 'failed' {
  const effect = hit ? fault.effects.login?.is : 'harmless';
  if (effect === 'harmless') return 'ok';
  return effect === 'refused' ? 'refused' : 'failed';
}

/**
 * What comes after the first hit matters only if the request is sent again. A rejected token has a third scope: its
 * endpoint fails for ever while logins succeed.
 */
export function faultScopesOf(fault: Fault, nth: number): readonly FaultScope[] {
  const is = fault.effects[VISIT[nth - 1] ?? 'login']?.is;
  if (is === 'rejected') return ['once', 'for ever', 'for ever there'];
  return is === 'passes' ? ['once', 'for ever'] : ['for ever'];
}

import { expect } from 'vitest';
import { makeLeague } from './leagues.ts';
import { grantLogin, listLeagues, type Seen, startService } from './service.ts';

/** A service whose first list is slow. */
export async function startSlowOnce(slowMs: number) {
  const service = await startService(({ endpoint }, nth) => {
    if (endpoint === 'login') return grantLogin('only-token');
    return { ...listLeagues([makeLeague('a')]), delayMs: nth === 1 ? slowMs : 0 };
  });
  const polls = (): readonly Seen[] => service.seen.filter(({ endpoint }) => endpoint === 'leagues');
  return { url: service.url, polls };
}

/** Expects that each poll ended before the next began, as seen by the service. */
export function expectNoOverlap(polls: readonly Seen[]): void {
  for (const [index, poll] of polls.slice(1).entries()) {
    expect(poll.beganAt).toBeGreaterThanOrEqual(polls[index]?.endedAt ?? Number.POSITIVE_INFINITY);
  }
}

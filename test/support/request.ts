import type { Request } from '../../src/observe/server.ts';

/** A request of a client that stays. */
export function makeRequest(path: string): Request {
  const { pathname, searchParams: query } = new URL(path, 'http://127.0.0.1');
  const { signal: gone } = new AbortController();
  return { method: 'GET', path: pathname, query, isHostAllowed: true, gone, hold: () => undefined };
}

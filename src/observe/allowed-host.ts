import { isLoopback, normalizeHost, parseHost } from '../config/host.ts';

/**
 * Whether a server that is bound to the address `boundTo` may show its data to a browser that knows it as `host`: as
 * localhost, a loopback address or one of the `allowed` names. Otherwise a web page from elsewhere whose name leads to
 * this machine could read it (DNS rebinding). Without such names, a server that others can reach has no limit.
 */
export function isAllowedHost(host: string, boundTo: string, allowed: readonly string[]): boolean {
  if (allowed.length === 0 && !isLoopback(parseHost(boundTo) ?? boundTo)) return true;
  const name = normalizeHost(host);
  return allowed.includes(name) || (isLoopback(name) && !name.endsWith('.localhost'));
}

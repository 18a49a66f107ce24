import { isIPv6 } from 'node:net';

/** The host name in lower case, without the brackets of IPv6 and without a trailing dot. */
export function normalizeHost(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(.)\.$/, '$1')
    .toLowerCase();
}

export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|::1|::ffff:7f[\da-f]{2}:[\da-f]{1,4})$/.test(normalizeHost(hostname));
}

/** The name or address as `normalizeHost` returns it for a URL's host; undefined if it has a port or is malformed. */
export function parseHost(text: string): string | undefined {
  const address = text.replace(/^\[(.*)\]$/, '$1');
  if (!isIPv6(address) && /[\s:/\\?#@*[]/.test(text)) return undefined;
  const url = URL.parse(`http://${isIPv6(address) ? `[${address}]` : text}`);
  return url === null ? undefined : normalizeHost(url.hostname);
}

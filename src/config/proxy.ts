import type { Environment } from './environment.ts';
import { settingsError } from './settings.ts';

export type ProxyServer = {
  /** May hold a user and a password, so it must not be shown. */
  readonly address: string;
  /** For messages, without user and password, such as `http://proxy:3128 (https_proxy)`. */
  readonly label: string;
};

const VARIABLES: Readonly<Record<string, readonly string[]>> = {
  'http:': ['http_proxy', 'HTTP_PROXY'],
  // Many systems set only http_proxy and mean both protocols.
  'https:': ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'],
};
const EXEMPTIONS = ['no_proxy', 'NO_PROXY'];
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** The proxy for `target`; undefined for loopback and `no_proxy` hosts. Throws a SettingsError for an invalid proxy. */
export function chooseProxy(target: URL, environment: Environment): ProxyServer | undefined {
  const variable = firstSet(VARIABLES[target.protocol] ?? [], environment);
  if (variable === undefined || isLoopback(target.hostname)) return undefined;
  const exemptions = environment[firstSet(EXEMPTIONS, environment) ?? ''] ?? '';
  if (exemptions.split(/[,\s]+/).some((entry) => isExempt(target, entry))) return undefined;
  const url = parseProxy(environment[variable]?.trim() ?? '');
  if (url !== undefined) return { address: url.href, label: `${url.origin} (${variable})` };
  const fix = 'write it as http://host:port or http://user:password@host:port';
  throw settingsError(`${variable} is not a valid proxy address`, fix);
}

export function describeProxy(proxy: ProxyServer | undefined): string {
  return proxy === undefined ? '' : ` through the proxy ${proxy.label}`;
}

function firstSet(names: readonly string[], environment: Environment): string | undefined {
  return names.find((name) => environment[name]);
}

/** An entry of `no_proxy` is `*` or a host, with or without a port. A host includes its subdomains. */
function isExempt({ protocol, hostname, port }: URL, entry: string): boolean {
  const [, name = '', only] = /^(?:\*?\.)?(\[.*\]|[^:]*|[^:]*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (name === '' || (only !== undefined && only !== (port || DEFAULT_PORTS[protocol]))) return false;
  const [host, exempt] = [normalizeHost(hostname), normalizeHost(name)];
  return exempt === '*' || host === exempt || host.endsWith(`.${exempt}`);
}

function parseProxy(text: string): URL | undefined {
  const url = URL.parse(/^[^\s/@:]+:\d+$/.test(text) ? `http://${text}` : text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return undefined;
  }
  return url.pathname === '/' && url.search === '' && url.hash === '' ? url : undefined;
}

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

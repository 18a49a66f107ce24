import { BlockList, isIP } from 'node:net';
import type { Fault } from '../errors.ts';
import type { Environment } from './environment.ts';

/** The proxy on the way to the service. */
export type ProxyServer = {
  /** With the user and password that it may want: never to be shown. */
  readonly address: string;
  /** The variable that names it. */
  readonly variable: string;
  /** Where it is and who says so, for people. */
  readonly label: string;
};

const VARIABLES: Readonly<Record<string, readonly string[]>> = {
  'http:': ['http_proxy', 'HTTP_PROXY'],
  // One proxy for both is often named once only.
  'https:': ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'],
};
const EXEMPTIONS = ['no_proxy', 'NO_PROXY'];
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * The proxy that the usual variables name for this address; undefined where it is reached directly, as loopback always
 * is. An empty variable counts as unset. One that no proxy can be made of is added to the faults.
 */
export function chooseProxy(target: URL, environment: Environment, faults: Fault[]): ProxyServer | undefined {
  const variable = firstSet(VARIABLES[target.protocol] ?? [], environment);
  if (variable === undefined || isLoopback(target.hostname)) return undefined;
  const exemptions = environment[firstSet(EXEMPTIONS, environment) ?? ''] ?? '';
  if (exemptions.split(/[,\s]+/).some((entry) => isExempt(target, entry))) return undefined;
  const url = parseProxy(environment[variable]?.trim() ?? '');
  if (url !== undefined) return { address: url.href, variable, label: `${url.origin} (${variable})` };
  faults.push({
    message: `${variable}: no proxy can be made of it`,
    fix: 'write it as http://host:port or http://user:password@host:port',
  });
  return undefined;
}

/** Where a request goes through, for messages. */
export function throughProxy(proxy: ProxyServer | undefined): string {
  return proxy === undefined ? '' : ` through the proxy ${proxy.label}`;
}

function firstSet(names: readonly string[], environment: Environment): string | undefined {
  return names.find((name) => environment[name] !== undefined && environment[name] !== '');
}

/** An entry is `*`, or a host that stands for its subdomains too, with or without a port. */
function isExempt({ protocol, hostname, port }: URL, entry: string): boolean {
  const [, name = '', only] = /^(?:\*?\.)?(\[.*\]|[^:]*|[^:]*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (name === '' || (only !== undefined && only !== (port || DEFAULT_PORTS[protocol]))) return false;
  const [host, exempt] = [bareHost(hostname), bareHost(name)];
  return exempt === '*' || host === exempt || host.endsWith(`.${exempt}`);
}

function parseProxy(text: string): URL | undefined {
  const url = URL.parse(/^[^\s/@:]+:\d+$/.test(text) ? `http://${text}` : text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  const isPlain = url.pathname === '/' && url.search === '' && url.hash === '';
  return isPlain && isDecodable(url.username) && isDecodable(url.password) ? url : undefined;
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** A host name of a URL in the one form that can be compared: in lower case, without brackets and without the root's dot. */
export function bareHost(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(.)\.$/, '$1')
    .toLowerCase();
}

/** Whether a host name of a URL means this very machine: what is sent there never crosses a network. */
export function isLoopback(hostname: string): boolean {
  const host = bareHost(hostname);
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  const family = isIP(host);
  return family !== 0 && loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

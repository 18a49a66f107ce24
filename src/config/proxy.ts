import { BlockList, isIP } from 'node:net';
import type { Problem } from '../errors.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { isLoopback, normalizeHost } from './host.ts';
import type { Environment } from './read-environment.ts';
import { settingsError } from './setting-definitions.ts';

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
const FAMILIES: Readonly<Record<number, 'ipv4' | 'ipv6'>> = { 4: 'ipv4', 6: 'ipv6' };
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** The proxy for `target`; undefined for loopback and `no_proxy` hosts. Throws a SettingsError for an invalid proxy. */
export function chooseProxy(target: URL, environment: Environment): ProxyServer | undefined {
  const variable = firstSet(VARIABLES[target.protocol] ?? [], environment);
  if (variable === undefined || isLoopback(target.hostname)) return undefined;
  if (readExemptions(environment).some((entry) => parseExemption(entry)?.(target))) return undefined;
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

/** Warnings about variables of the network that have no effect, or one that is hardly meant. */
export function findNetworkWarnings(environment: Environment): readonly Problem[] {
  const problems: Problem[] = [];
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    const fix = 'remove it, and set NODE_EXTRA_CA_CERTS for a certificate authority of your own';
    problems.push({ message: 'NODE_TLS_REJECT_UNAUTHORIZED=0: no TLS certificate is verified', fix });
  }
  if (firstSet(VARIABLES['https:'] ?? [], environment) === undefined) {
    const all = firstSet(['all_proxy', 'ALL_PROXY'], environment);
    if (all !== undefined) problems.push({ message: `${all} is not used`, fix: 'set https_proxy to use a proxy' });
    return problems;
  }
  for (const entry of readExemptions(environment).filter((entry) => parseExemption(entry) === undefined)) {
    const message = `${firstSet(EXEMPTIONS, environment)}: "${entry}" is no name, address or network, and is ignored`;
    problems.push({ message, fix: 'write it like example.com, 192.0.2.7, 10.0.0.0/8 or *' });
  }
  return problems;
}

function readExemptions(environment: Environment): readonly string[] {
  const text = environment[firstSet(EXEMPTIONS, environment) ?? ''] ?? '';
  return text.split(/[,\s]+/).filter((entry) => entry !== '');
}

/**
 * An entry of `no_proxy` is `*`, a network in CIDR notation, or a host, with or without a port. A name includes its
 * subdomains; no name is resolved, so networks contain addresses only. Undefined if the entry can match nothing.
 */
function parseExemption(entry: string): ((target: URL) => boolean) | undefined {
  if (entry === '*') return () => true;
  if (entry.includes('/')) return parseNetwork(entry);
  const written = isIP(entry) === 6 ? `[${entry}]` : entry.replace(/^\*?\./, '');
  const [, name = '', only = ''] = /^(\[[\da-f:.]+\]|[^:@?#*\\]+)(?::(\d+))?$/i.exec(written) ?? [];
  const exempt = normalizeHost(URL.parse(`http://${name}:${only}`)?.hostname ?? '');
  // As in URLs, 10.1 is the address 10.0.0.1, which is hardly meant.
  const isHost = isIP(exempt) === 0 ? /^[\w.-]+$/.test(exempt) : isIP(normalizeHost(name)) !== 0;
  if (!isHost) return undefined;
  return ({ protocol, hostname, port }) =>
    (only === '' || only === (port || DEFAULT_PORTS[protocol])) && `.${normalizeHost(hostname)}`.endsWith(`.${exempt}`);
}

function parseNetwork(entry: string): ((target: URL) => boolean) | undefined {
  const [, address = '', bits = ''] = /^\[?([^\][]+)\]?\/(\d{1,3})$/.exec(entry) ?? [];
  const type = FAMILIES[isIP(address)];
  if (type === undefined || Number(bits) > (type === 'ipv6' ? 128 : 32)) return undefined;
  const network = new BlockList();
  network.addSubnet(address, Number(bits), type);
  return ({ hostname }) => {
    const host = normalizeHost(hostname);
    const family = FAMILIES[isIP(host)];
    return family !== undefined && network.check(host, family);
  };
}

function parseProxy(text: string): URL | undefined {
  const url = URL.parse(/^[^\s/@:]+:\d+$/.test(text) ? `http://${text}` : text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (tryOrUndefined(() => decodeURIComponent(url.username + url.password)) === undefined) return undefined;
  return url.pathname === '/' && url.search === '' && url.hash === '' ? url : undefined;
}

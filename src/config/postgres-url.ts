import { existsSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { tryOrUndefined } from '../try-or-undefined.ts';
import type { Environment } from './read-environment.ts';
import { settingsError } from './setting-definitions.ts';
import { readTextFile } from './text-file.ts';

/** Where and how to connect. Kept in memory only, since it has the password. `host` may be the folder of a Unix socket. */
export type PostgresServer = Readonly<ReturnType<typeof readPostgresUrl>>;

const EXAMPLE = 'postgresql://league_sync@db.example.com/leagues?sslmode=verify-full';
const ENCODED = 'write / as %2F, ? as %3F and # as %23';
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** The parameters of libpq that are used. */
const USED = `application_name dbname host options passfile password port sslcert sslkey sslmode sslrootcert
  user`.split(/\s+/);
/** Those that are refused, since a connection that ignored them would not be the one that was asked for. */
const REFUSED = `channel_binding client_encoding connect_timeout fallback_application_name gssdelegation gssencmode
  gsslib hostaddr keepalives keepalives_count keepalives_idle keepalives_interval krbsrvname load_balance_hosts
  max_protocol_version min_protocol_version replication require_auth requirepeer requiressl scram_client_key
  scram_server_key service servicefile ssl ssl_max_protocol_version ssl_min_protocol_version sslcertmode sslcompression
  sslcrl sslcrldir sslkeylogfile sslnegotiation sslpassword sslsni target_session_attrs tcp_user_timeout`.split(/\s+/);

/** What asks for the connection that is made anyway. */
const HARMLESS =
  /^((channel_binding|gssencmode)=(disable|prefer)|connect_timeout=10|target_session_attrs=(any|read-write))$/;

const NO_HOST = 'no-host.invalid';

/** The variable that libpq reads where the URL does not have the parameter. */
function variableOf(parameter: string): string {
  const irregular = { application_name: 'APPNAME', connect_timeout: 'CONNECT_TIMEOUT', dbname: 'DATABASE' };
  return `PG${Object.entries(irregular).find(([name]) => name === parameter)?.[1] ?? parameter.replaceAll('_', '').toUpperCase()}`;
}

/** As libpq reads URL and variables. Throws a SettingsError, also for what is not implemented; it repeats no value. */
export function readPostgresUrl(text: string, name: string, environment: Environment) {
  const parameters = readParameters(parseUrl(text, name), name);
  const read = (key: string) => parameters.get(key) ?? (environment[variableOf(key)] || undefined);
  for (const key of REFUSED) {
    const value = read(key);
    if (value === undefined || HARMLESS.test(`${key}=${value}`)) continue;
    if (parameters.has(key)) throw settingsError(`${name}: the parameter ${key} is not supported`, 'remove it');
    throw settingsError(`${name}: ${variableOf(key)} is set, which is not supported`, 'unset it for league-sync');
  }
  const host = read('host');
  if (host === undefined)
    throw settingsError(`${name} names no host`, 'write one; for a Unix socket, write ?host=/run/postgresql');
  const port = read('port') ?? '5432';
  if (host.includes(',') || port.includes(','))
    throw settingsError(`${name} names several hosts`, 'write one: the mirror is in one server');
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    throw settingsError(`${name}: the port is not valid`, 'write a number from 1 to 65535');
  const user = read('user') ?? tryOrUndefined(() => userInfo().username);
  if (user === undefined)
    throw settingsError(`${name} names no user, and the system has no name for this one`, 'write postgresql://user@…');
  const database = read('dbname') ?? user;
  return {
    ...{ host, port: Number(port), user, database },
    password: read('password') ?? findInPasswordFile(read('passfile'), [host, port, database, user]),
    ...readTls(read, name),
    options: read('options'),
    applicationName: read('application_name') ?? 'league-sync',
  };
}

function parseUrl(text: string, name: string): URL {
  // For libpq a URL may have a user without a host, as in postgresql://user@/leagues?host=/run/postgresql.
  const url = URL.parse(text.trim()) ?? URL.parse(text.trim().replace(/@(?=[:/?]|$)/, `@${NO_HOST}`));
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
    throw settingsError(
      `${name} is not the URL of a PostgreSQL database`,
      `write one such as ${EXAMPLE}; ${ENCODED} in the password`,
    );
  if (hasStrayAt(url))
    throw settingsError(`${name} has an @ behind its host`, `${ENCODED} in the password, and @ as %40 elsewhere`);
  if (url.href.includes('#')) throw settingsError(`${name} has a # that is not encoded`, 'write it as %23');
  if (tryOrUndefined(() => decodeURIComponent(url.href)) !== undefined) return url;
  throw settingsError(`${name} has a % that encodes nothing`, 'write it as %25');
}

/** A password with a /, ? or # ends the host too early: parts of it would be taken for something that may be shown. */
function hasStrayAt({ pathname, search, hash }: URL): boolean {
  // Users of some hosted servers have an @ in their name.
  return (pathname + search.replace(/(?<=[?&])user=[^&]*/, '') + hash).includes('@');
}

/** Those of the query override the parts before it. Unlike `searchParams`, libpq takes a + for a +. */
function readParameters({ hostname, port, username, password, pathname, search }: URL, name: string) {
  const parts = {
    host: hostname.replace(NO_HOST, '').replace(/^\[(.*)\]$/, '$1'),
    port,
    user: username,
    password,
    dbname: pathname.slice(1),
  };
  const found = new Map<string, string>();
  for (const [key, value] of Object.entries(parts)) if (value !== '') found.set(key, decodeURIComponent(value));
  const inQuery = new Set<string>();
  for (const part of search.slice(1).split('&').filter(Boolean)) {
    const [key = '', value = ''] = part.split(/=(.*)/s, 2).map(decodeURIComponent);
    // What follows a password may be the rest of it, after an & that should have been encoded.
    const shown = inQuery.has('password') ? '' : ` ${key}`;
    if (![...USED, ...REFUSED].includes(key))
      throw settingsError(`${name} has a parameter${shown} that PostgreSQL does not know`, 'remove or rename it');
    if (value === '') throw settingsError(`${name}: the parameter ${key} has no value`, 'write one, or remove it');
    if (inQuery.has(key)) throw settingsError(`${name} has the parameter ${key} twice`, 'keep one of them');
    inQuery.add(key);
    found.set(key, value);
  }
  return found;
}

function readTls(read: (key: string) => string | undefined, name: string) {
  const [sslrootcert, sslcert, sslkey] = [read('sslrootcert'), read('sslcert'), read('sslkey')];
  const sslmode = read('sslmode') ?? (sslrootcert === 'system' ? 'verify-full' : 'prefer');
  if (sslrootcert === 'system' && sslmode !== 'verify-full')
    throw settingsError(`${name} has sslrootcert=system with a weaker sslmode`, 'write sslmode=verify-full');
  if ((sslcert === undefined) !== (sslkey === undefined))
    throw settingsError(`${name} has only one of sslcert and sslkey`, 'write both');
  if (SSL_MODES.includes(sslmode)) return { sslmode, sslrootcert, sslcert, sslkey };
  throw settingsError(`${name}: its sslmode is not valid`, `write one of ${SSL_MODES.join(', ')}`);
}

/** As libpq finds it for `[host, port, database, user]`. Throws a SettingsError, also if others may read the file. */
function findInPasswordFile(file: string | undefined, wanted: readonly string[]): string | undefined {
  const path = file ?? join(homedir(), '.pgpass');
  if (file === undefined && !existsSync(path)) return undefined;
  const text = readTextFile(path, 'PGPASSFILE: ');
  if ((statSync(path).mode & 0o077) !== 0)
    throw settingsError(`PGPASSFILE: others may read ${path}`, `take their rights away: chmod 600 ${path}`);
  for (const line of text.split(/\r?\n/)) {
    const fields = [...line.matchAll(/((?:\\.|[^:])*)(?::|$)/g)].map(([, field = '']) => field.replace(/\\(.)/g, '$1'));
    const password = fields[wanted.length];
    if (line.startsWith('#') || !password) continue;
    // The folder of a socket is written as localhost.
    const fits = (value: string, index: number) =>
      ['*', value, value.startsWith('/') ? 'localhost' : value].includes(fields[index] ?? '');
    if (wanted.every(fits)) return password;
  }
  return undefined;
}

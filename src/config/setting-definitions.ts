import { formatProblem, type Problem, SettingsError } from '../errors.ts';
import { parseDuration, parseSize, writeDuration } from '../time/duration.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { isLoopback, parseHost } from './host.ts';

export const PREFIX = 'LEAGUE_SYNC_';

/** With `orAnyPort`, a free port is taken if `port` is in use. */
export type ListenAddress = { readonly host: string; readonly port: number; readonly orAnyPort?: boolean };

export function formatAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Parses the text of a setting. Throws a SettingsError. */
type Read<T> = (text: string, name: string) => T;
type Setting<T> = { readonly read: (text: string | undefined, name: string) => T; readonly fallback?: string };

/** A day; timers overflow after 24 days. */
const MAX_TIMEOUT_MS = 86_400_000;
/** A hundred years. A far longer duration would lead to a date before year 0, which a timestamp cannot express. */
const MAX_DURATION_MS = 36_500 * 86_400_000;
const SERVICE = 'https://api.example.com';

const anyText: Read<string> = (text) => text;

const duration = (least: number, most = MAX_DURATION_MS): Read<number> =>
  parsed(
    (text) => {
      const ms = parseDuration(text);
      return ms !== undefined && ms >= least && ms <= most ? ms : undefined;
    },
    `write a duration such as 250ms, 30s, 5m, 2h or 90d, from ${writeDuration(least)} to ${writeDuration(most)}`,
  );

const size = parsed((text) => {
  const bytes = parseSize(text);
  return bytes !== undefined && bytes >= 1 && bytes <= 2 ** 31 ? bytes : undefined;
}, 'write a size such as 512KB, 64MB or 1GB, up to 2GB');

const percentage = parsed((text) => {
  const match = /^(\d{1,3}(?:\.\d+)?)\s?%$/.exec(text);
  const share = Number(match?.[1]) / 100;
  return share >= 0 && share <= 1 ? share : undefined;
}, 'write a percentage from 0% to 100%');

const timezone = parsed(
  (text) => tryOrUndefined(() => Intl.DateTimeFormat('en', { timeZone: text })) && text,
  'write an IANA name such as UTC or Europe/Berlin',
);

const listen = parsed((text): ListenAddress | 'off' | undefined => {
  if (text === 'off') return 'off';
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  return host !== undefined && port <= 65_535 ? { host, port } : undefined;
}, 'write an address such as 127.0.0.1:9464 or [::1]:9464, or off');

const hosts: Read<readonly string[]> = (text, name) => {
  const names = text.split(',').map((entry) => entry.trim());
  return names.filter(Boolean).map((entry) => {
    const host = parseHost(entry);
    if (host !== undefined) return host;
    const fix = 'write names such as leagues.example.com without https:// and port, separated by commas';
    throw settingsError(`${name}: "${entry}" is not a host name`, fix);
  });
};

/** A league without one of these could not be told from another, or would never leave a filtered list. */
const NEVER_QUIET = ['league_id', 'status'];

const quietFields: Read<readonly string[]> = (text, name) => {
  const fields = [...new Set(text.split(',').map((entry) => entry.trim()))].filter(Boolean).toSorted();
  const field = NEVER_QUIET.find((never) => fields.includes(never));
  if (field === undefined) return fields;
  throw settingsError(`${name}: ${field} cannot be quiet`, 'name other fields of a league, separated by commas');
};

const flag = parsed((text) => {
  if (/^(true|1|yes|on|y|enabled)$/i.test(text)) return true;
  return /^(false|0|no|off|n|disabled)$/i.test(text) ? false : undefined;
}, 'write true or false');

const path = parsed(
  (text) => (text === '' || text === ':memory:' || text.includes('\0') ? undefined : text),
  'write the path of a file',
);

const choice = <const T extends readonly string[]>(...names: T): Read<T[number]> =>
  parsed((text) => names.find((name) => name === text), `write ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`);

/** Messages never repeat the address, which may contain a password by mistake. */
const webAddress =
  (example: string): Read<URL> =>
  (text, name) => {
    const url = URL.parse(text.trim());
    if (url === null) throw settingsError(`${name} is not a URL`, `write one such as ${example}`);
    if (url.protocol === 'https:' || url.protocol === 'http:') return url;
    throw settingsError(`${name} is not an http or https address`, 'begin it with https:// or http://');
  };

const baseUrl: Setting<URL> = {
  read: (text, name) => {
    if (text === undefined) throw notSet(name, `the address of the service, such as ${SERVICE}`);
    const url = webAddress(SERVICE)(text, name);
    // The paths of the requests are appended to the base URL, so one that has such a path already was pasted.
    const [, pasted] = /(\/(?:events|players)\/v1)(?:\/.*)?$/.exec(url.pathname) ?? [];
    if (pasted !== undefined)
      throw settingsError(`${name} ends with the path of a request`, `write the address up to ${pasted}, without that`);
    if (url.username === '' && url.password === '' && !/[?#]/.test(url.href)) return url;
    throw settingsError(`${name} contains user information, a query or a fragment`, 'write the address without it');
  },
};

/** Throws a SettingsError if `what` would be sent to another machine in clear text, unless that is allowed. */
export function assertEncrypted({ protocol, hostname }: URL, name: string, what: string, allowsHttp: boolean): void {
  if (protocol === 'https:' || isLoopback(hostname) || allowsHttp) return;
  throw settingsError(`${name}: http would send ${what} unencrypted`, 'use https, or set LEAGUE_SYNC_ALLOW_HTTP=true');
}

export const readHeartbeatUrl = webAddress('https://hc-ping.com/your-uuid');
export const readWebhookUrl = webAddress('https://hooks.example.com/leagues');

/** PostgreSQL cuts longer names off, and reserves those that begin with pg_ for itself; in a search_path, "$user" is the role's schema. */
const MAX_NAME_BYTES = 63;

const schema = parsed(
  (text) =>
    text === '' || Buffer.byteLength(text) > MAX_NAME_BYTES || /\0|^pg_|^information_schema$|^\$user$/.test(text)
      ? undefined
      : text,
  `write a name of at most ${MAX_NAME_BYTES} bytes that is not one of PostgreSQL's own`,
);

export const SETTINGS = {
  LEAGUE_SYNC_BASE_URL: baseUrl,
  LEAGUE_SYNC_ALLOW_HTTP: withDefault('false', flag),
  LEAGUE_SYNC_USERNAME: optional(anyText),
  LEAGUE_SYNC_USERNAME_FILE: optional(anyText),
  LEAGUE_SYNC_PASSWORD: optional(anyText),
  LEAGUE_SYNC_PASSWORD_FILE: optional(anyText),
  LEAGUE_SYNC_DATABASE: withDefault('data/leagues.db', path),
  LEAGUE_SYNC_SCHEDULE: withDefault('*/5 * * * *', anyText),
  LEAGUE_SYNC_PROFILE_SCHEDULE: withDefault('0 * * * *', anyText),
  LEAGUE_SYNC_TIMEZONE: withDefault('UTC', timezone),
  LEAGUE_SYNC_STATUS: withDefault('all', choice('all', 'active', 'inactive')),
  LEAGUE_SYNC_QUIET_FIELDS: withDefault('', quietFields),
  LEAGUE_SYNC_LOGIN_LEEWAY: withDefault('5m', duration(0)),
  LEAGUE_SYNC_ATTEMPT_TIMEOUT: withDefault('30s', duration(1, MAX_TIMEOUT_MS)),
  LEAGUE_SYNC_RUN_TIMEOUT: withDefault('2m', duration(1, MAX_TIMEOUT_MS)),
  LEAGUE_SYNC_MAX_BODY: withDefault('64MB', size),
  LEAGUE_SYNC_REMOVAL_LIMIT: withDefault('20%', percentage),
  LEAGUE_SYNC_RUN_RETENTION: withDefault('90d', duration(1_000)),
  LEAGUE_SYNC_STALE_AFTER: optional(duration(1_000)),
  LEAGUE_SYNC_LISTEN: withDefault('127.0.0.1:9464', listen),
  LEAGUE_SYNC_ALLOWED_HOSTS: withDefault('', hosts),
  LEAGUE_SYNC_HEARTBEAT_URL: optional(readHeartbeatUrl),
  LEAGUE_SYNC_HEARTBEAT_URL_FILE: optional(anyText),
  LEAGUE_SYNC_WEBHOOK_URL: optional(anyText),
  LEAGUE_SYNC_WEBHOOK_URL_FILE: optional(anyText),
  LEAGUE_SYNC_WEBHOOK_SECRET: optional(anyText),
  LEAGUE_SYNC_WEBHOOK_SECRET_FILE: optional(anyText),
  LEAGUE_SYNC_KEEP_WAL: withDefault('false', flag),
  LEAGUE_SYNC_POSTGRES_URL: optional(anyText),
  LEAGUE_SYNC_POSTGRES_URL_FILE: optional(anyText),
  LEAGUE_SYNC_POSTGRES_SCHEMA: withDefault('league_sync', schema),
  LEAGUE_SYNC_PUBLISH: optional(path),
  LEAGUE_SYNC_LOG_LEVEL: withDefault('info', choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')),
  LEAGUE_SYNC_LOG_FORMAT: optional(choice('json', 'pretty')),
} as const;

export type SettingName = keyof typeof SETTINGS;
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** The text of each setting, by the setting's name. */
export type Values = Readonly<Record<string, string>>;
export type ReadSettings = { readonly [Name in SettingName]: ReturnType<(typeof SETTINGS)[Name]['read']> };

export function readSetting<Name extends SettingName>(values: Values, name: Name): ReadSettings[Name] {
  return SETTINGS[name].read(values[name], name) as ReadSettings[Name];
}

/** Calls all readers. Throws one SettingsError with the problems of all of them, without duplicates. */
export function readAll<T extends Readonly<Record<string, () => unknown>>>(readers: T) {
  const problems = new Map<string, Problem>();
  const read: Record<string, unknown> = {};
  for (const [name, reader] of Object.entries(readers)) {
    try {
      read[name] = reader();
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      for (const problem of error.problems) problems.set(formatProblem(problem), problem);
    }
  }
  if (problems.size > 0) throw new SettingsError([...problems.values()]);
  return read as { readonly [Name in keyof T]: ReturnType<T[Name]> };
}

function withDefault<T>(fallback: string, read: Read<T>): Setting<T> & { readonly fallback: string } {
  return { fallback, read: (text = fallback, name) => read(text, name) };
}

function optional<T>(read: Read<T>): Setting<T | undefined> {
  return { read: (text, name) => (text === undefined ? undefined : read(text, name)) };
}

/** A reader that throws a SettingsError if `parse` returns undefined. */
function parsed<T>(parse: (text: string) => T | undefined, fix: string): Read<T> {
  return (text, name) => {
    const value = parse(text.trim());
    if (value === undefined) throw settingsError(`${name}: "${text}" is not valid`, fix);
    return value;
  };
}

/** For a setting that is required; `what`: what to set it to. */
export function notSet(name: string, what: string): SettingsError {
  return settingsError(`${name} is not set`, `set it to ${what}`);
}

export function settingsError(message: string, fix: string): SettingsError {
  return new SettingsError([{ message, fix }]);
}

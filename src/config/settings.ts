import { parseDuration, parseSize, writeDuration } from '../duration.ts';
import { type Fault, SettingsError } from '../errors.ts';

export const PREFIX = 'LEAGUE_SYNC_';

/** One `host:port` that the status page, the probes and the metrics are served on. */
export type ListenAddress = {
  readonly host: string;
  readonly port: number;
  /** Whether any free port will do if another program has this one. */
  readonly orAnyPort?: boolean;
};

/** The address as it stands in a URL. */
export function formatAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Reads the text of a setting. Throws a SettingsError that names the setting, what is wrong, and the fix. */
type Read<T> = (text: string, name: string) => T;

/** One line of the table below: `fallback` is what counts if the setting is not set. */
type Setting<T> = { readonly read: (text: string | undefined, name: string) => T; readonly fallback?: string };

/** Longer than this no timer of a request or a run makes sense, and timers overflow at 24 days. */
const LONGEST_TIMEOUT_MS = 86_400_000;
/** A hundred years: further back there is no timestamp that a database could hold. */
const LONGEST_DURATION_MS = 36_500 * 86_400_000;
const SERVICE = 'https://api.example.com';

const asIs: Read<string> = (text) => text;

const duration = (least: number, most = LONGEST_DURATION_MS): Read<number> =>
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

const timezone = parsed((text) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone === '' ? undefined : text;
  } catch {
    return undefined;
  }
}, 'write an IANA name such as UTC or Europe/Berlin');

/** Reads `host:port`, `[IPv6]:port` or `off`. */
const listen = parsed((text): ListenAddress | 'off' | undefined => {
  if (text === 'off') return 'off';
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  return host !== undefined && port <= 65_535 ? { host, port } : undefined;
}, 'write an address such as 127.0.0.1:9464 or [::1]:9464, or off');

const YES = ['true', '1', 'yes', 'on', 'y', 'enabled'];
const NO = ['false', '0', 'no', 'off', 'n', 'disabled'];
const flag = parsed((text) => {
  const word = text.toLowerCase();
  return YES.includes(word) || (NO.includes(word) ? false : undefined);
}, 'write true or false');

const path = parsed(
  (text) => (text === '' || text === ':memory:' || text.includes('\0') ? undefined : text),
  'write the path of a file',
);

const choice = <const T extends readonly string[]>(...names: T): Read<T[number]> =>
  parsed((text) => names.find((name) => name === text), `write ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`);

/** An address is never repeated in a message: it may carry a password by mistake. */
const webAddress =
  (example: string): Read<URL> =>
  (text, name) => {
    const url = URL.parse(text.trim());
    if (url === null) throw unusable(`${name}: is not an address`, `write one such as ${example}`);
    if (url.protocol === 'https:' || url.protocol === 'http:') return url;
    throw unusable(`${name}: is not an address of the web`, 'begin it with https:// or http://');
  };

const baseUrl: Read<URL> = (text, name) => {
  const url = webAddress(SERVICE)(text, name);
  const extras = [
    url.username !== '' || url.password !== '' ? 'user information' : '',
    url.search !== '' || url.href.includes('?') ? 'a query' : '',
    url.hash !== '' || url.href.includes('#') ? 'a fragment' : '',
  ].filter((extra) => extra !== '');
  if (extras.length === 0) return url;
  throw unusable(`${name}: carries ${extras.join(' and ')}`, 'write the address without it');
};

/** The settings of the program under their published names, with their defaults. */
export const SETTINGS = {
  LEAGUE_SYNC_BASE_URL: required(baseUrl, `the address of the service, such as ${SERVICE}`),
  LEAGUE_SYNC_ALLOW_HTTP: or('false', flag),
  LEAGUE_SYNC_USERNAME: optional(asIs),
  LEAGUE_SYNC_USERNAME_FILE: optional(asIs),
  LEAGUE_SYNC_PASSWORD: optional(asIs),
  LEAGUE_SYNC_PASSWORD_FILE: optional(asIs),
  LEAGUE_SYNC_DATABASE: or('data/leagues.db', path),
  LEAGUE_SYNC_SCHEDULE: or('*/5 * * * *', asIs),
  LEAGUE_SYNC_PROFILE_SCHEDULE: or('0 * * * *', asIs),
  LEAGUE_SYNC_TIMEZONE: or('UTC', timezone),
  LEAGUE_SYNC_STATUS: or('all', choice('all', 'active', 'inactive')),
  LEAGUE_SYNC_LOGIN_LEEWAY: or('5m', duration(0)),
  LEAGUE_SYNC_ATTEMPT_TIMEOUT: or('30s', duration(1, LONGEST_TIMEOUT_MS)),
  LEAGUE_SYNC_RUN_TIMEOUT: or('2m', duration(1, LONGEST_TIMEOUT_MS)),
  LEAGUE_SYNC_MAX_BODY: or('64MB', size),
  LEAGUE_SYNC_REMOVAL_LIMIT: or('20%', percentage),
  LEAGUE_SYNC_RUN_RETENTION: or('90d', duration(1_000)),
  LEAGUE_SYNC_STALE_AFTER: optional(duration(1_000)),
  LEAGUE_SYNC_LISTEN: or('127.0.0.1:9464', listen),
  LEAGUE_SYNC_HEARTBEAT_URL: optional(webAddress('https://hc-ping.com/your-uuid')),
  LEAGUE_SYNC_HEARTBEAT_URL_FILE: optional(asIs),
  LEAGUE_SYNC_PUBLISH: optional(path),
  LEAGUE_SYNC_LOG_LEVEL: or('info', choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')),
  LEAGUE_SYNC_LOG_FORMAT: optional(choice('json', 'pretty')),
} as const;

export type SettingName = keyof typeof SETTINGS;
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** Settings as they are written, by their names. */
export type Values = Readonly<Record<string, string>>;
/** Settings as they are read. */
export type ReadSettings = { readonly [Name in SettingName]: ReturnType<(typeof SETTINGS)[Name]['read']> };

/** Reads one setting. Throws a SettingsError. */
export function readSetting<Name extends SettingName>(values: Values, name: Name): ReadSettings[Name] {
  return SETTINGS[name].read(values[name], name) as ReadSettings[Name];
}

/** What the work gives; undefined if it throws a SettingsError, whose faults are added to the others. */
export function collect<T>(work: () => T, faults: Fault[]): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    faults.push(...error.faults);
    return undefined;
  }
}

function or<T>(fallback: string, read: Read<T>): Setting<T> & { readonly fallback: string } {
  return { fallback, read: (text = fallback, name) => read(text, name) };
}

function optional<T>(read: Read<T>): Setting<T | undefined> {
  return { read: (text, name) => (text === undefined ? undefined : read(text, name)) };
}

function required<T>(read: Read<T>, what: string): Setting<T> {
  return {
    read: (text, name) => {
      if (text === undefined) throw unusable(`${name}: is not set`, `set it to ${what}`);
      return read(text, name);
    },
  };
}

/** A reader whose `parse` says undefined for what it cannot read. */
function parsed<T>(parse: (text: string) => T | undefined, fix: string): Read<T> {
  return (text, name) => {
    const value = parse(text.trim());
    if (value === undefined) throw unusable(`${name}: "${text}" cannot be used`, fix);
    return value;
  };
}

export function unusable(message: string, fix: string): SettingsError {
  return new SettingsError([{ message, fix }]);
}

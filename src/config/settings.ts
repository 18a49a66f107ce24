import * as z from 'zod';
import { parseSchedule, type Schedule } from '../cron.ts';
import { parseDuration, parseSize, writeDuration } from '../duration.ts';
import type { Fault } from '../errors.ts';
import { DEFAULT_DATABASE } from './database.ts';
import { DEFAULT_LISTEN, LISTEN_FIX, parseListen } from './listen.ts';
import { isLoopback } from './loopback.ts';
import type { SettingName } from './name.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
/** Longer than this no timer of a request or a run makes sense, and timers overflow at 24 days. */
const LONGEST_TIMEOUT_MS = 86_400_000;
/** A hundred years: further back there is no instant that a database could hold. */
const LONGEST_DURATION_MS = 36_500 * 86_400_000;

/** Reports what is wrong with a setting, and the fix. */
function refuse(context: z.core.$RefinementCtx, { message, fix }: Fault) {
  context.addIssue({ code: 'custom', message, params: { fix }, input: undefined });
  return z.NEVER;
}

/** A text setting whose reader says undefined for what it cannot read. */
function setting<T>(read: (text: string) => T | undefined, fix: string) {
  return z.string().transform((text, context): T => {
    const value = read(text.trim());
    return value ?? refuse(context, { message: `"${text}" cannot be used`, fix });
  });
}

const duration = (least: number, most = LONGEST_DURATION_MS) =>
  setting(
    (text) => {
      const ms = parseDuration(text);
      return ms !== undefined && ms >= least && ms <= most ? ms : undefined;
    },
    `write a duration such as 250ms, 30s, 5m, 2h or 90d, from ${writeDuration(least)} to ${writeDuration(most)}`,
  );

const size = setting((text) => {
  const bytes = parseSize(text);
  return bytes !== undefined && bytes >= 1 && bytes <= 2 ** 31 ? bytes : undefined;
}, 'write a size such as 512KB, 64MB or 1GB, up to 2GB');

const percentage = setting((text) => {
  const match = /^(\d{1,3}(?:\.\d+)?)\s?%$/.exec(text);
  const share = Number(match?.[1]) / 100;
  return share >= 0 && share <= 1 ? share : undefined;
}, 'write a percentage from 0% to 100%');

const timezone = setting((text) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone === '' ? undefined : text;
  } catch {
    return undefined;
  }
}, 'write an IANA name such as UTC or Europe/Berlin');

const listen = setting(parseListen, LISTEN_FIX);

/** An address is never repeated in a message: it may carry a password by mistake. */
const webAddress = (example: string) =>
  z.string().transform((text, context): URL => {
    const url = URL.parse(text.trim());
    if (url === null) return refuse(context, { message: 'is not an address', fix: `write one such as ${example}` });
    if (url.protocol === 'https:' || url.protocol === 'http:') return url;
    return refuse(context, { message: 'is not an address of the web', fix: 'begin it with https:// or http://' });
  });

const SERVICE = 'https://api.example.com';
const required = z.string({ error: 'is not set' });
const baseUrl = webAddress(SERVICE).transform((url, context): URL => {
  const extras = [
    url.username !== '' || url.password !== '' ? 'user information' : '',
    url.search !== '' || url.href.includes('?') ? 'a query' : '',
    url.hash !== '' || url.href.includes('#') ? 'a fragment' : '',
  ].filter((extra) => extra !== '');
  if (extras.length === 0) return url;
  return refuse(context, { message: `carries ${extras.join(' and ')}`, fix: 'write the address without it' });
});

const choice = <const T extends readonly string[]>(names: T) =>
  setting(
    (text) => names.find((name): name is T[number] => name === text),
    `write ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`,
  );

const text = z.string();
const path = setting(
  (value) => (value === '' || value === ':memory:' || value.includes('\0') ? undefined : value),
  'write the path of a file',
);

/** Where the heartbeat goes. */
export const heartbeatSchema = webAddress('https://hc-ping.com/your-uuid');

/** The settings of the program under their published names, with their defaults. */
export const settingsSchema = z.object({
  LEAGUE_SYNC_BASE_URL: required.pipe(baseUrl),
  LEAGUE_SYNC_ALLOW_HTTP: setting((value) => z.stringbool().safeParse(value).data, 'write true or false').prefault(
    'false',
  ),
  LEAGUE_SYNC_USERNAME: text.optional(),
  LEAGUE_SYNC_USERNAME_FILE: text.optional(),
  LEAGUE_SYNC_PASSWORD: text.optional(),
  LEAGUE_SYNC_PASSWORD_FILE: text.optional(),
  LEAGUE_SYNC_DATABASE: path.prefault(DEFAULT_DATABASE),
  LEAGUE_SYNC_SCHEDULE: text.prefault('*/5 * * * *'),
  LEAGUE_SYNC_PROFILE_SCHEDULE: text.prefault('0 * * * *'),
  LEAGUE_SYNC_TIMEZONE: timezone.prefault('UTC'),
  LEAGUE_SYNC_STATUS: choice(['all', 'active', 'inactive']).prefault('all'),
  LEAGUE_SYNC_LOGIN_LEEWAY: duration(0).prefault('5m'),
  LEAGUE_SYNC_ATTEMPT_TIMEOUT: duration(1, LONGEST_TIMEOUT_MS).prefault('30s'),
  LEAGUE_SYNC_RUN_TIMEOUT: duration(1, LONGEST_TIMEOUT_MS).prefault('2m'),
  LEAGUE_SYNC_MAX_BODY: size.prefault('64MB'),
  LEAGUE_SYNC_REMOVAL_LIMIT: percentage.prefault('20%'),
  LEAGUE_SYNC_RUN_RETENTION: duration(1_000).prefault('90d'),
  LEAGUE_SYNC_STALE_AFTER: duration(1_000).optional(),
  LEAGUE_SYNC_LISTEN: listen.prefault(DEFAULT_LISTEN),
  LEAGUE_SYNC_HEARTBEAT_URL: heartbeatSchema.optional(),
  LEAGUE_SYNC_HEARTBEAT_URL_FILE: text.optional(),
  LEAGUE_SYNC_PUBLISH: path.optional(),
  LEAGUE_SYNC_LOG_LEVEL: choice(LOG_LEVELS).prefault('info'),
  LEAGUE_SYNC_LOG_FORMAT: choice(['json', 'pretty']).optional(),
} satisfies Record<SettingName, z.ZodType>);

/** What is wrong with settings that a schema does not take, each by its name; `name` is that of a single one. */
export function faultsOf({ issues }: z.ZodError, name?: SettingName): readonly Fault[] {
  return issues.map((issue) => {
    const fix =
      issue.code === 'custom' ? String(issue.params?.fix) : `set it to the address of the service, such as ${SERVICE}`;
    return { message: `${name ?? issue.path.join('.')}: ${issue.message}`, fix };
  });
}

/** Reads a schedule setting; a fault says what is wrong and how an expression looks. */
export function readSchedule(expression: string, zone: string): Schedule | { readonly fault: Fault } {
  try {
    return parseSchedule(expression, zone);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is not a cron expression';
    return {
      fault: {
        message: `"${expression}" cannot be used (${why})`,
        fix: 'write 5 fields such as */5 * * * *, or 6 with seconds first',
      },
    };
  }
}

/** Whether credentials may be sent to this address: in clear only where they do not leave the machine. */
export function maySendCredentials(url: URL, allowHttp: boolean): boolean {
  return url.protocol === 'https:' || allowHttp || isLoopback(url.hostname);
}

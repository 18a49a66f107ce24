import { parseEnv } from 'node:util';
import type { Fault } from '../errors.ts';
import { nearName } from '../near-name.ts';
import { findOddLines } from './dotenv.ts';
import { PREFIX, SETTING_NAMES } from './name.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings in force, and what was written where settings stand and is none. */
export type Settings = {
  readonly values: Readonly<Record<string, string>>;
  readonly warnings: readonly Fault[];
  /** Whether there is a `.env` file. */
  readonly hasDotenv: boolean;
};

/** Settings that may be given as `…_FILE` instead: the path of a file whose first line holds the value. */
const SECRET_NAMES = ['LEAGUE_SYNC_USERNAME', 'LEAGUE_SYNC_PASSWORD', 'LEAGUE_SYNC_HEARTBEAT_URL'] as const;

/**
 * The settings in force: the environment over the text of `.env`. An empty value counts as unset, and a secret set in
 * the environment in either form hides both of its forms in `.env`.
 */
export function readSettings(environment: Environment, dotenv?: string): Settings {
  const upper = ownSettings(environment);
  const lower = ownSettings(parseEnv(dotenv ?? ''));
  for (const name of SECRET_NAMES) {
    if (upper[name] === undefined && upper[`${name}_FILE`] === undefined) continue;
    delete lower[name];
    delete lower[`${name}_FILE`];
  }
  const values = { ...lower, ...upper };
  const warnings = [...findOddLines(dotenv ?? ''), ...findUnknown(Object.keys(values))];
  return { values, warnings, hasDotenv: dotenv !== undefined };
}

function ownSettings(source: Environment): Record<string, string> {
  const set: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (name.startsWith(PREFIX) && value !== undefined && value !== '') set[name] = value;
  }
  return set;
}

/** The names that look like settings and are none. All begin alike, so that the rest says which one is near. */
function findUnknown(names: readonly string[]): readonly Fault[] {
  const rests = SETTING_NAMES.map((name) => name.slice(PREFIX.length));
  return names
    .filter((name) => !SETTING_NAMES.some((known) => known === name))
    .map((name) => {
      const near = nearName(name.slice(PREFIX.length), rests);
      const fix =
        near === undefined
          ? 'remove it, or look for its name in .env.example'
          : `rename it (did you mean ${PREFIX}${near}?)`;
      return { message: `${name}: is not a setting and is ignored`, fix };
    });
}

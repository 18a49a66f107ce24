import { parseEnv } from 'node:util';
import type { Fault } from '../errors.ts';
import { nearName } from '../near-name.ts';
import { findOddLines } from './dotenv.ts';
import { PREFIX, SETTING_NAMES, SETTINGS, type Values } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings in force, and what was written where settings stand and is none. */
export type Settings = {
  readonly values: Values;
  readonly warnings: readonly Fault[];
  /** Whether there is a `.env` file. */
  readonly hasDotenv: boolean;
};

/**
 * The settings in force: the environment over the text of `.env`. An empty value counts as unset, and a secret set in
 * the environment in either form hides both of its forms in `.env`.
 */
export function readSettings(environment: Environment, dotenv?: string): Settings {
  const upper = ownSettings(environment);
  const lower = ownSettings(parseEnv(dotenv ?? ''));
  for (const name of SETTING_NAMES) {
    const file = `${name}_FILE`;
    if (!(file in SETTINGS) || (upper[name] === undefined && upper[file] === undefined)) continue;
    delete lower[name];
    delete lower[file];
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
    .filter((name) => !(name in SETTINGS))
    .map((name) => {
      const near = nearName(name.slice(PREFIX.length), rests);
      const fix = near
        ? `rename it (did you mean ${PREFIX}${near}?)`
        : 'remove it, or look for its name in .env.example';
      return { message: `${name}: is not a setting and is ignored`, fix };
    });
}

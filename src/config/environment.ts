import { closestMatch } from 'leven';

export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'LEAGUE_SYNC_';
/** Settings that may be given as `…_FILE` instead: the path of a file whose first line holds the value. */
export const SECRET_NAMES = ['LEAGUE_SYNC_USERNAME', 'LEAGUE_SYNC_PASSWORD'] as const;

/**
 * The settings in force: the environment over `.env`. An empty value counts as unset, and a secret set in the
 * environment in either form hides both of its forms in `.env`.
 */
export function mergeEnvironment(environment: Environment, dotenv: Environment = {}): Record<string, string> {
  const upper = ownSettings(environment);
  const lower = ownSettings(dotenv);
  for (const name of SECRET_NAMES) {
    if (upper[name] === undefined && upper[`${name}_FILE`] === undefined) continue;
    delete lower[name];
    delete lower[`${name}_FILE`];
  }
  return { ...lower, ...upper };
}

function ownSettings(source: Environment): Record<string, string> {
  const set: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (name.startsWith(PREFIX) && value !== undefined && value !== '') set[name] = value;
  }
  return set;
}

/** One sentence for each name that looks like a setting and is none, with the nearest known name. */
export function warnOfUnknown(settings: Readonly<Record<string, string>>, known: readonly string[]): readonly string[] {
  return Object.keys(settings)
    .filter((name) => !known.includes(name))
    .map((name) => `${name} is no setting of this program and is ignored. Did you mean ${closestMatch(name, known)}?`);
}

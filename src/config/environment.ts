import { existsSync, readFileSync, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { closestMatch } from 'leven';
import { codeOf, type Problem, SettingsError } from '../errors.ts';
import { PREFIX, SETTING_NAMES, SETTINGS, type Values } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings in force, with warnings about unknown names and about `.env` lines that are probably mistakes. */
export type Settings = { readonly values: Values; readonly warnings: readonly Problem[]; readonly hasDotenv: boolean };

/**
 * Merges the settings of the environment and of `.env`; the environment wins. An empty value counts as unset. A secret
 * that the environment sets in either form (`NAME` or `NAME_FILE`) hides both forms in `.env`.
 */
export function readSettings(environment: Environment, dotenv?: string): Settings {
  const fromEnvironment = ownSettings(environment);
  const fromFile = ownSettings(parseEnv(dotenv ?? ''));
  for (const file of SETTING_NAMES.filter((name) => name.endsWith('_FILE'))) {
    const forms = [file, file.slice(0, -'_FILE'.length)];
    if (forms.some((name) => name in fromEnvironment)) for (const name of forms) delete fromFile[name];
  }
  const values = { ...fromFile, ...fromEnvironment };
  const warnings = [...findOddLines(dotenv ?? ''), ...findUnknown(Object.keys(values))];
  return { values, warnings, hasDotenv: dotenv !== undefined };
}

/** The text of `.env` in the working directory, if it exists. Throws a SettingsError if it cannot be read. */
export function readDotenv(): string | undefined {
  if (!existsSync('.env')) return undefined;
  if (!statSync('.env').isFile())
    throw new SettingsError([{ message: '.env is not a regular file', fix: 'remove it' }]);
  try {
    return readFileSync('.env', 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const message = `.env: cannot be read (${codeOf(error) || 'unknown error'})`;
    throw new SettingsError([{ message, fix: 'correct its permissions, or remove it' }]);
  }
}

function ownSettings(source: Environment): Record<string, string> {
  const own = Object.entries(source).filter(([name, value]) => name.startsWith(PREFIX) && value);
  return Object.fromEntries(own) as Record<string, string>;
}

/** The known name closest to a misspelt `name`; undefined if none is close. Two swapped letters count as two edits. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const maxDistance = name.length < 4 ? 1 : Math.max(2, Math.floor(name.length / 3));
  return closestMatch(name, known, { maxDistance });
}

function findUnknown(names: readonly string[]): readonly Problem[] {
  // Compared without the prefix, which would make all names look alike.
  const known = SETTING_NAMES.map((name) => name.slice(PREFIX.length));
  const unknown = names.filter((name) => !(name in SETTINGS));
  return unknown.map((name) => {
    const near = closestName(name.slice(PREFIX.length), known);
    const fix = near ? `rename it (did you mean ${PREFIX}${near}?)` : 'remove it, or look for its name in .env.example';
    return { message: `${name} is not a setting and is ignored`, fix };
  });
}

/** An assignment whose value is in quotes and may span several lines. */
const QUOTED = /^([ \t]*(?:export +)?[\w.-]+[ \t]*=)[ \t]*(["'`])[\s\S]*?\2/gm;
const ASSIGNMENT = /^(?:export +)?([\w.-]+)\s*=(.*)$/;
/** An unquoted value with a `#` that is probably part of the value, since no space precedes the `#`. */
const CUT = /^(?!\s*["'`])(?:[^#]*[^#\s])?#/;

/** Finds `.env` lines that are ignored or cut off, or lack a closing quote. Messages omit values: some are secret. */
export function findOddLines(text: string): readonly Problem[] {
  const short = text.replaceAll(QUOTED, (all, head: string) => `${head}""${'\n'.repeat(all.split('\n').length - 1)}`);
  return short.split('\n').flatMap((line, index) => {
    const problem = findOddLine(line.trim());
    return problem === undefined ? [] : [{ message: `.env, line ${index + 1}: ${problem.message}`, fix: problem.fix }];
  });
}

function findOddLine(line: string): Problem | undefined {
  if (line === '' || line.startsWith('#')) return undefined;
  const [, name, value = ''] = ASSIGNMENT.exec(line) ?? [];
  if (name === undefined)
    return { message: 'is not NAME=value and is ignored', fix: 'write NAME=value, or put # before it' };
  if (!name.startsWith(PREFIX)) {
    // Variables of other programs are fine, but a name that resembles that of a setting is probably misspelt.
    const near = closestName(name.toUpperCase().replaceAll(/[.-]/g, '_'), SETTING_NAMES);
    if (near === undefined) return undefined;
    return { message: `${name} is not a setting and is ignored`, fix: `rename it (did you mean ${near}?)` };
  }
  // The caller has emptied every quoted value, so a quote that still precedes text is never closed.
  if (/^\s*["'`](?!["'`])/.test(value))
    return { message: `the quote before the value of ${name} is never closed`, fix: 'close the quote, or remove it' };
  if (!CUT.test(value)) return undefined;
  return { message: `the value of ${name} ends before the #`, fix: 'put the whole value between quotes' };
}

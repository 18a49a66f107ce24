import { existsSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { closestMatch } from 'leven';
import type { Problem } from '../errors.ts';
import { PREFIX, SETTING_NAMES, SETTINGS, type Values } from './setting-definitions.ts';
import { readTextFile } from './text-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings in force, with warnings about unknown names and about `.env` lines that are probably mistakes. */
export type Settings = { readonly values: Values; readonly warnings: readonly Problem[]; readonly hasDotenv: boolean };

/** Environment before `.env`. Empty counts as unset; either form of a secret there hides both forms in `.env`. */
export function readSettings(environment: Environment, dotenv?: string): Settings {
  const fromEnvironment = ownSettings(environment);
  const text = trimLines(dotenv ?? '');
  const fromFile = ownSettings(parseEnv(text));
  for (const file of SETTING_NAMES.filter((name) => name.endsWith('_FILE'))) {
    const forms = [file, file.slice(0, -'_FILE'.length)];
    if (forms.some((name) => name in fromEnvironment)) for (const name of forms) delete fromFile[name];
  }
  const values = { ...fromFile, ...fromEnvironment };
  const warnings = [...findOddLines(text, environment), ...findUnknown(Object.keys(values))];
  return { values, warnings, hasDotenv: dotenv !== undefined };
}

/** The text of `.env` in the working directory, if it exists. Throws a SettingsError if it cannot be read. */
export function readDotenv(): string | undefined {
  return existsSync('.env') ? readTextFile('.env') : undefined;
}

/** Node misreads spaces after an empty value, and a lone CR. A no-break space at an end stays, to be warned of. */
function trimLines(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/^[^\S\n]+|(?<![ \t\v\f])[ \t\v\f]+$/gm, '');
}

function ownSettings(source: Environment): Record<string, string> {
  const own = Object.entries(source).filter(([name, value]) => name.startsWith(PREFIX) && value?.trim());
  return Object.fromEntries(own) as Record<string, string>;
}

/**
 * The shortest known name that has a word beginning with a misspelt `name`, else the closest; undefined if none is close.
 * Case does not count, and two swapped letters are two edits.
 */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const wordsOf = (text: string): string => ` ${text.replaceAll(/[_-]/g, ' ')}`;
  const byLower = new Map(known.map((one) => [one.toLowerCase(), one]));
  const maxDistance = name.length < 4 ? 1 : Math.max(2, Math.floor(name.length / 3));
  const longer = [...byLower.keys()].filter((one) => name.length >= 3 && wordsOf(one).includes(wordsOf(wanted)));
  const [shortest] = longer.toSorted((one, other) => one.length - other.length);
  return byLower.get(shortest ?? closestMatch(wanted, [...byLower.keys()], { maxDistance }) ?? '');
}

/** The end of a message about an unknown name; empty if none is close. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = closestName(name, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

function findUnknown(names: readonly string[]): readonly Problem[] {
  // Compared without the prefix, which would make all names look alike.
  const known = SETTING_NAMES.map((name) => name.slice(PREFIX.length));
  const unknown = names.filter((name) => !(name in SETTINGS));
  return unknown.map((name) => {
    const near = closestName(name.slice(PREFIX.length).toUpperCase(), known);
    const fix = near ? `rename it (did you mean ${PREFIX}${near}?)` : 'remove it, or look for its name in .env.example';
    return { message: `${name} is not a setting and is ignored`, fix };
  });
}

/** An assignment whose value is in quotes and may span several lines. */
const QUOTED = /^((?:export +)?([\w.-]+)[ \t]*=)[ \t]*(["'`])[\s\S]*?\3/gm;
const ASSIGNMENT = /^(?:export +)?([\w.-]+)\s*=(.*)$/;
/** What is not the whole value: in `short`, values in quotes are empty. */
const PARTIAL = [
  // A quote that is not closed on its line, and text behind one that is.
  /^\s*["'`](?!["'`])|^\s*""(?:#|\s*[^\s#])/,
  // The first # is probably part of the value, since there is no space before it, or none behind it.
  /^(?!\s*["'`])[^#]*?(?:(?:^|[^#\s])#|#+[^#\s])/,
];
const FROM_ENVIRONMENT =
  /^(?:https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|PG(?:HOST|PORT|USER|PASSWORD|PASSFILE|DATABASE|SSL\w+))$/i;

/** Finds `.env` lines of which something is ignored. Messages omit values: some are secret. */
function findOddLines(text: string, environment: Environment): readonly Problem[] {
  const short = text.replaceAll(QUOTED, (all, head: string, name: string) => {
    const lines = all.split('\n');
    // No setting has several lines, so the quote that ends the value is probably one that begins another value.
    return `${head}${lines.length > 1 && name.startsWith(PREFIX) ? '"?' : '""'}${'\n'.repeat(lines.length - 1)}`;
  });
  const setAt = new Map<string, number>();
  return short.split('\n').flatMap((line, index) => {
    const [, name, value = ''] = ASSIGNMENT.exec(line) ?? [];
    const before = name?.startsWith(PREFIX) ? setAt.get(name) : undefined;
    if (name !== undefined && value !== '') setAt.set(name, index + 1);
    const repeated = { message: `${name} is set in line ${before}, too, which is ignored`, fix: 'keep one of them' };
    const problem = findOddLine(line, environment) ?? (before === undefined ? undefined : repeated);
    return problem === undefined ? [] : [{ message: `.env, line ${index + 1}: ${problem.message}`, fix: problem.fix }];
  });
}

function findOddLine(line: string, environment: Environment): Problem | undefined {
  if (line === '' || line.startsWith('#')) return undefined;
  const [, name, value = ''] = ASSIGNMENT.exec(line) ?? [];
  if (name === undefined)
    return { message: 'is not NAME=value and is ignored', fix: 'write NAME=value, or put # before it' };
  if (!name.startsWith(PREFIX)) {
    if (FROM_ENVIRONMENT.test(name) && environment[name] === undefined)
      return { message: `${name} is not read from .env`, fix: 'set it in the environment' };
    // Variables of other programs are fine, but a name that resembles that of a setting is probably misspelt.
    const near = closestName(name.toUpperCase().replaceAll(/[.-]/g, '_'), SETTING_NAMES);
    if (near === undefined) return undefined;
    return { message: `${name} is not a setting and is ignored`, fix: `rename it (did you mean ${near}?)` };
  }
  if (!PARTIAL.some((form) => form.test(value))) return undefined;
  const fix = 'put the whole value between quotes of a kind that it does not contain (" or \' or `)';
  return { message: `the value of ${name} does not end where its line does`, fix };
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { createProgram, type Execute } from '../../src/command-line/options.ts';
import { faults } from '../../src/simulator/faults.ts';
import { runQuery } from '../../src/store/queries/user-query.ts';
import { PLAIN } from '../../src/terminal/style.ts';
import { splitLine } from './shell-words.ts';

/** The context of a lookup. `database` has the newest schema; statements are tried on it. */
export type Place = { readonly clone: string; readonly database: string };
/** The result of looking a command up: it exists, it does not, or it is not one of ours. */
export type Finding = 'exists' | 'foreign' | { readonly fault: string };

/** Commands of npm itself that documents may name. */
const OF_NPM = ['ci', 'install', 'pack', 'sbom', 'uninstall', 'version'];
/** Our command; of a service made of the template, `league-sync@NAME`. */
const OUR_COMMAND = /^(?:.*\/)?league-sync(?:@[\w-]+)?$/;

/**
 * Checks what a command refers to, if it is only mentioned or not run: scripts, files, commands, options and their
 * values. Of another program's command only what stands behind `--` is checked.
 */
export function lookUp(command: string, place: Place): Finding {
  const findings = splitLine(command).map((words) => lookUpWords(words, place));
  const fault = findings.find((finding) => typeof finding === 'object');
  return fault ?? (findings.includes('exists') ? 'exists' : 'foreign');
}

function lookUpWords(all: readonly string[], place: Place): Finding {
  const words = all.slice(all.findIndex((word) => !/^\w+=/.test(word)));
  const [first = '', second = '', ...rest] = words;
  if (OUR_COMMAND.test(first)) return found(faultOfProgram(words.slice(1), place));
  if (first === 'npx' && second === 'league-sync') return found(faultOfProgram(rest, place));
  if (first === 'npx') return found(faultOfPackage(second, rest, place));
  if (first === 'npm') return found(faultOfScript(second, rest[0], place));
  // The quoted text is a command line of its own.
  if (second === '-c') return lookUp(rest[0] ?? '', place);
  if (/(?:^|\/)(?:node|bash|sh)$/.test(first)) return found(faultOfFile(words.slice(1), place));
  const handedOn = words.indexOf('--') + 1;
  return handedOn > 0 ? lookUpWords(words.slice(handedOn), place) : 'foreign';
}

function found(fault: string | undefined): Finding {
  return fault === undefined ? 'exists' : { fault };
}

/** The usage error of our program for a command line. A command that is only mentioned may lack its arguments. */
function faultOfProgram(words: readonly string[], { database }: Place): string | undefined {
  const asked: { sql?: unknown; fault?: unknown } = {};
  try {
    createSilentProgram(asked).parse(words.length === 0 ? ['run'] : words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const isNamed = error.exitCode === 0 || error.code === 'commander.missingArgument';
    return isNamed ? undefined : error.message;
  }
  const switched = Array.isArray(asked.fault) ? asked.fault : [];
  const unknown = switched.find((name) => !faults.some((fault) => fault.name === name));
  if (unknown !== undefined) return `the simulated service has no fault ${unknown}`;
  return typeof asked.sql === 'string' ? faultOfStatement(asked.sql, database) : undefined;
}

/** Our program without its actions: it records the options. */
function createSilentProgram(asked: object) {
  const execute: Execute = async (_, options) => {
    Object.assign(asked, options);
  };
  const silent = { print: async () => undefined, printError: () => undefined };
  return createProgram(execute, { ...silent, terminal: PLAIN, errorTerminal: PLAIN });
}

function faultOfStatement(sql: string, database: string): string | undefined {
  if (!/^SELECT /i.test(sql)) return undefined;
  try {
    runQuery(database, sql);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

function faultOfPackage(name: string, words: readonly string[], { clone }: Place): string | undefined {
  if (!existsSync(join(clone, 'node_modules/.bin', name))) return `npx would have to download ${name}`;
  const file = words.find((word) => /^\w.*\/.*\.\w+$/.test(word));
  return file === undefined || existsSync(join(clone, file)) ? undefined : `there is no file ${file}`;
}

function faultOfScript(word: string, next: string | undefined, { clone }: Place): string | undefined {
  const { scripts } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const script = word === 'run' ? (next ?? '') : word;
  if (Object.hasOwn(scripts, script) || (word !== 'run' && OF_NPM.includes(word))) return undefined;
  return `package.json has no script ${script}`;
}

/** The error of a file that node or a shell is to run. */
function faultOfFile([file = '', ...rest]: readonly string[], place: Place): string | undefined {
  if (!existsSync(join(place.clone, file))) return `there is no file ${file}`;
  return /^(?:src\/cli\.ts|dist\/league-sync\.cjs)$/.test(file) ? faultOfProgram(rest, place) : undefined;
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProgram } from '../../src/program.ts';
import { runQuery } from '../../src/store/query.ts';

/** Commands of npm itself that documents may name. */
const OF_NPM = ['ci', 'install', 'pack', 'version'];
const OF_EVERY_COMMAND = ['--help', '-h'];

const program = createProgram(async () => undefined);

/**
 * What is wrong with a command that a sentence names, or that is not run: a script, file, command or option that is not
 * there. `database` is one of the newest schema, which statements are tried on.
 */
export function faultOf(command: string, clone: string, database: string): string | undefined {
  const words = splitWords(command).filter((word, index, all) => !isSetting(word) || all[index - 1] !== undefined);
  const [first = '', second = '', ...rest] = words;
  if (first === 'league-sync') return faultOfProgram(words.slice(1), database);
  if (first === 'npx' && second === 'league-sync') return faultOfProgram(rest, database);
  if (first === 'npx') return faultOfPackage(second, rest, clone);
  if (first === 'npm') return faultOfScript(second, rest[0], clone);
  if (/(?:^|\/)node$/.test(first)) {
    if (!existsSync(join(clone, second))) return `there is no file ${second}`;
    return /^(?:src\/cli\.ts|dist\/league-sync\.cjs)$/.test(second) ? faultOfProgram(rest, database) : undefined;
  }
  return undefined;
}

function splitWords(command: string): readonly string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
}

function isSetting(word: string): boolean {
  return /^[A-Z_]+=/.test(word);
}

function faultOfProgram(words: readonly string[], database: string): string | undefined {
  const [name = '', ...rest] = words;
  if (name === '' || ['--version', '--help', 'help'].includes(name)) return undefined;
  const command = program.commands.find((one) => one.name() === name);
  if (command === undefined) return `there is no command ${name}`;
  const values: string[] = [];
  for (let index = 0; index < rest.length; index += 1) {
    const word = rest[index] ?? '';
    const option = command.options.find(({ long, short }) => word === long || word === short);
    if (option?.required) index += 1;
    if (!word.startsWith('--')) values.push(word);
    else if (option === undefined && !OF_EVERY_COMMAND.includes(word)) return `${name} has no option ${word}`;
  }
  if (values.length > command.registeredArguments.length) return `${name} does not take "${values.at(-1)}"`;
  return name === 'query' ? faultOfStatement(values[0], database) : undefined;
}

function faultOfStatement(sql: string | undefined, database: string): string | undefined {
  if (sql === undefined || !/^SELECT /i.test(sql)) return undefined;
  try {
    runQuery(database, sql);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

function faultOfPackage(name: string, words: readonly string[], clone: string): string | undefined {
  if (!existsSync(join(clone, 'node_modules/.bin', name))) return `npx would have to download ${name}`;
  const file = words.find((word) => /^\w.*\/.*\.\w+$/.test(word));
  return file === undefined || existsSync(join(clone, file)) ? undefined : `there is no file ${file}`;
}

function faultOfScript(word: string, next: string | undefined, clone: string): string | undefined {
  const { scripts } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const script = word === 'run' ? (next ?? '') : word;
  if (Object.hasOwn(scripts, script) || (word !== 'run' && OF_NPM.includes(word))) return undefined;
  return `package.json has no script ${script}`;
}

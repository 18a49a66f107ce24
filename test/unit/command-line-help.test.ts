import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/command-line/options.ts';
import { PLAIN } from '../../src/terminal/style.ts';
import { lookUp } from '../documents/references.ts';

const NAMES = [
  ...['', ...'run sync profile check status changes poll query accept-removals backup verify'.split(' ')],
  ...['webhook', 'webhook test', 'webhook replay', 'webhook skip', 'mirror', 'mirror rebuild', 'simulate', 'demo'],
];

/** What a command line prints at a terminal before any command runs. */
function printed(line: string, columns: number): readonly string[] {
  const texts: string[] = [];
  const terminal = { ...PLAIN, columns };
  const print = async (text: string) => void texts.push(text);
  const program = createProgram(async () => undefined, { print, printError: print, terminal, errorTerminal: terminal });
  try {
    program.parse(line.split(' ').filter(Boolean), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return texts.join('\n').split('\n');
}

function examplesOf(help: readonly string[]): readonly string[] {
  const start = help.indexOf('Examples:') + 1;
  if (start === 0) return [];
  const end = help.indexOf('', start);
  const lines = help.slice(start, end === -1 ? undefined : end);
  return lines.map((line) => line.trim()).filter((line) => !line.startsWith('# '));
}

describe('the help', () => {
  it('is checked of every command', () => {
    const known = printed('--help', 200).flatMap((line) => /^ {2}([a-z][a-z-]+)\b/.exec(line)?.[1] ?? []);
    expect(known.filter((name) => !['league-sync', 'help', ...NAMES].includes(name))).toEqual([]);
  });

  it.each(NAMES)('of "%s" has no examples but valid commands', (name) => {
    const examples = examplesOf(printed(`${name} --help`, 1_000));
    expect(examples.length).toBeLessThanOrEqual(4);
    if (name === '' || name === 'query') expect(examples.length).toBeGreaterThan(2);
    if (name === 'run' || name === 'sync') expect(examples).toEqual([expect.stringMatching(/^LEAGUE_SYNC_/)]);
    for (const example of examples) {
      expect(example).toContain(`league-sync ${name}`.trim());
      expect([example, lookUp(example, { clone: '.', database: 'test/fixtures/schema-2.db' })]).toEqual([
        example,
        'exists',
      ]);
    }
  });

  it.each(NAMES.flatMap((name) => [40, 80, 120].map((columns) => [name, columns] as const)))(
    'of "%s" is never wider than %i columns, except commands to copy',
    (name, columns) => {
      const copyable = examplesOf(printed(`${name} --help`, 1_000));
      const wide = printed(`${name} --help`, columns).filter((line) => line.length > columns);
      const texts = wide.map((line) => line.trim()).filter((line) => line.includes(' ') && !line.startsWith('Usage: '));
      expect(texts.filter((text) => !copyable.includes(text))).toEqual([]);
    },
  );

  it('explains an option beside it, however little room there is', () => {
    const help = printed('backup --help', 40);
    const at = help.findIndex((line) => line.startsWith('  --database <file>'));
    expect(help.slice(at, at + 3)).toEqual([
      '  --database <file>  use this database',
      '                     instead of',
      '                     LEAGUE_SYNC_DATABASE',
    ]);
  });

  it('or an error is not printed for the highest port', () =>
    expect(printed('simulate --port 65535', 80)).toEqual(['']));

  it('and usage errors have whole words in every line', () => {
    const whole = printed('changes --since nonsense', 1_000);
    for (const columns of [40, 80]) {
      const lines = printed('changes --since nonsense', columns);
      expect(lines.filter((line) => line.length > columns)).toEqual([]);
      expect(lines.length).toBeGreaterThan(whole.length);
      expect(lines.map((line) => line.trim()).join(' ')).toBe(whole.join(' '));
    }
  });
});

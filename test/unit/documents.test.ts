import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/command-line/options.ts';
import { SETTING_NAMES, SETTINGS } from '../../src/config/setting-definitions.ts';
import { EXIT } from '../../src/errors.ts';
import { faults } from '../../src/simulator/faults.ts';
import { runs } from '../../src/store/schema.ts';
import { PLAIN } from '../../src/terminal/style.ts';

const readme = readFileSync('README.md', 'utf8');
const example = readFileSync('.env.example', 'utf8');
const architecture = readFileSync('docs/architecture.md', 'utf8');
const rehearsal = readFileSync('docs/rehearsal.md', 'utf8');
const messages = readFileSync('docs/messages.md', 'utf8');
const configuration = readFileSync('docs/configuration.md', 'utf8');

/** The first two cells of each row of the table under a heading. */
function rowsUnder(heading: string, page: string): readonly (readonly [string, string])[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
}

function defaultOf(name: string): string {
  const setting: { readonly fallback?: string } = SETTINGS[name as keyof typeof SETTINGS];
  return String(setting.fallback ?? '');
}

/** The names of the commands that the help shows, with those of `webhook` as `webhook test`. */
function namesOfCommands(): readonly string[] {
  const program = createProgram(async () => undefined, {
    print: async () => undefined,
    printError: () => undefined,
    terminal: PLAIN,
    errorTerminal: PLAIN,
  });
  const shown = program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => command.name() !== 'help');
  return shown.flatMap((command) =>
    command.name() === 'webhook'
      ? command.commands.map((one) => `webhook ${one.name()}`)
      : [command.name(), ...command.commands.map((one) => `${command.name()} ${one.name()}`)],
  );
}

describe('the README', () => {
  it('names every command', () => {
    const cells = rowsUnder('Commands', readme).flatMap(([cell]) => [...cell.matchAll(/`([^`]+)`/g)]);
    const named = cells.map(([, said = '']) => said.split(/ (?=[A-Z-])/)[0]);
    expect(named.sort()).toEqual([...namesOfCommands()].sort());
  });

  it('can be read in five minutes', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(151);
  });
});

describe('the page on configuration', () => {
  it('names every setting with its default', () => {
    const rows = new Map(
      rowsUnder('Settings', configuration).map(([name, value]) => [
        name.replaceAll('`', ''),
        value.replaceAll('`', ''),
      ]),
    );
    const documented = SETTING_NAMES.filter((name) => !name.endsWith('_FILE'));
    expect([...rows.keys()].filter((name) => name.startsWith('LEAGUE_SYNC_')).sort()).toEqual([...documented].sort());
    for (const name of documented) {
      const value = defaultOf(name);
      if (value !== '') expect([name, rows.get(name)]).toEqual([name, value]);
    }
  });

  it('names no setting elsewhere that does not exist', () => {
    const named = [...configuration.matchAll(/LEAGUE_SYNC_[A-Z_]*[A-Z]/g)].map(([name]) => name);
    expect(named.filter((name) => !(SETTING_NAMES as readonly string[]).includes(name))).toEqual([]);
  });
});

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(file: string): readonly string[] {
  const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map(
    (heading) =>
      `#${heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-')}`,
  );
}

it.each(globSync(['*.md', 'bench/*.md', 'docs/**/*.md']))('the links from %s lead somewhere', (file) => {
  const links = [...readFileSync(file, 'utf8').matchAll(/\]\((?!https?:)([^)#]*)(#[^)]+)?\)/g)];
  const isDead = ([, path = '', anchor]: RegExpExecArray): boolean => {
    const target = path === '' ? file : join(dirname(file), path);
    return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
  };
  expect(links.filter(isDead).map(([link]) => link)).toEqual([]);
});

describe('the pictures of the page', () => {
  const files = globSync('docs/*.png').sort();
  const pages = [readme, readFileSync('docs/page.md', 'utf8').replaceAll('="', '="docs/')];
  const inReadme = [...readme.matchAll(/ src(?:set)?="([^"]+)"/g)].map(([, file]) => file);
  const shown = [...pages.join('\n').matchAll(/ (src|srcset)="([^"]+)"/g)].map(([, name, file]) => ({ name, file }));

  it('are shown in the README and on the page about the page, each light and dark', () => {
    expect(files.length).toBeGreaterThan(3);
    expect([...new Set(shown.map(({ file }) => file))].sort()).toEqual(files);
    const light = shown.filter(({ name }) => name === 'src').map(({ file = '' }) => file.replace('.png', '-dark.png'));
    expect(shown.filter(({ name }) => name === 'srcset').map(({ file }) => file)).toEqual(light);
  });

  it.each(files)('%s is sharp on good screens, and no more than 250 kB', (file) => {
    const png = readFileSync(file);
    // The width and the height in the header of a PNG.
    const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
    if (inReadme.includes(file)) expect([width, height <= 1_120]).toEqual([2_000, true]);
    else expect([width, height]).toEqual([2_560, 1_800]);
    expect(png.length).toBeLessThanOrEqual(250_000);
  });

  it('begin with a recording that moves without a script, light and dark, and not for people who want no motion', () => {
    const svg = readFileSync('docs/demo.svg', 'utf8');
    expect(readme).toContain('](docs/demo.svg)');
    expect(svg.length).toBeLessThanOrEqual(250_000);
    expect(svg).not.toMatch(/<script|href=|url\(/);
    for (const wish of ['prefers-color-scheme:dark', 'prefers-reduced-motion:no-preference'])
      expect(svg).toContain(`@media(${wish})`);
  });
});

/** All documents except the generated one. */
const WRITTEN = globSync(['*.md', 'bench/*.md', 'docs/**/*.md', 'test/**/*.md']).filter(
  (file) => file !== 'docs/schema.md',
);

describe('prose', () => {
  /** Tables, headings, code blocks, and words that cannot be broken may be longer. */
  const isTooLong = (line: string): boolean =>
    line.length > 120 && !/^(\||#|<!--|!\[)/.test(line) && line.trim().slice(0, 119).includes(' ');

  it.each(WRITTEN)('in %s has lines that an editor shows whole', (file) => {
    const outside = readFileSync(file, 'utf8')
      .split(/^```/m)
      .filter((_, index) => index % 2 === 0);
    expect(outside.flatMap((part) => part.split('\n').filter(isTooLong))).toEqual([]);
  });
});

it.each(['compose.yaml', 'deploy/compose-two.yaml'])('every setting of .env is passed on by %s', (file) => {
  const OWN = /^LEAGUE_SYNC_(BASE_URL|(USERNAME|PASSWORD)(_FILE)?)$/;
  const text = readFileSync(file, 'utf8');
  const passed = [...text.matchAll(/^ +(LEAGUE_SYNC_\w+): \$\{\1:-.*\}$/gm)].map(([, name]) => name);
  expect(passed.sort()).toEqual(SETTING_NAMES.filter((name) => !OWN.test(name)).sort());
});

it('.env.example names every setting', () => {
  expect(SETTING_NAMES.filter((name) => !new RegExp(`^#?${name}=`, 'm').test(example))).toEqual([]);
});

describe('the page on messages', () => {
  it('names every exit code', () => {
    const codes = rowsUnder('By exit code', messages).map(([code]) => code);
    expect(codes).toEqual(expect.arrayContaining(Object.values(EXIT).map(String)));
  });

  it('explains every kind of failure', () => {
    const kinds = rowsUnder('Failed runs, by `error_kind`', messages).map(([kind]) => kind.replaceAll('`', ''));
    expect(kinds).toEqual(expect.arrayContaining([...(runs.error_kind.enumValues ?? [])]));
  });

  it('quotes messages as the program has them', () => {
    const source = globSync('src/**/*.ts')
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    const headings = ['Messages about settings', "The worker's own messages", 'The database'];
    const rows = headings.flatMap((heading) => rowsUnder(heading, messages));
    const quoted = rows.flatMap(([cell]) =>
      [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, said = '']) => said.split('…')),
    );
    expect(quoted.length).toBeGreaterThan(10);
    expect(quoted.filter((message) => !source.includes(message))).toEqual([]);
  });
});

it('the page on rehearsals has no fault in its headings that the simulated service does not have', () => {
  const headings = rehearsal.split('\n').filter((line) => /^## .+: `/.test(line));
  const named = headings.flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !faults.some((fault) => fault.name === name))).toEqual([]);
});

describe('the page on the architecture', () => {
  it('has a reason for each dependency', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const named = [...architecture.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)].flatMap(([, cell = '']) => cell.split(', '));
    const isNamed = (name: string) =>
      named.some((one) => one === name || (one.endsWith('*') && name.startsWith(one.slice(0, -1))));
    expect(Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !isNamed(name))).toEqual([]);
  });

  it('names every folder of src', () => {
    const folders = globSync('src/*/').map((folder) => `\`${folder.replace(/\/?$/, '/')}\``);
    expect(folders.length).toBeGreaterThan(5);
    expect(folders.filter((folder) => !architecture.includes(folder))).toEqual([]);
  });
});

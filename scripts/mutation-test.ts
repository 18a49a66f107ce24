import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { createVitest, type Vitest } from 'vitest/node';
import list from './mutants.json' with { type: 'json' };

// Plants each fault of mutants.json in a copy of the tree, and appends to a file which tests fail. A fault is tried
// level by level, up to the first that notices it; a level runs the tests of the fault's area. Call it again to go on.

const USAGE = 'node scripts/mutation-test.ts <results.ndjson> [beginning of a path, such as src/store]...';

type Fault = { readonly file: string; readonly kind: string; readonly from: string; readonly to: string };
/** `killedBy`: for each test file, its tests that fail; empty if the level does not notice the fault. */
type Result = Fault & { readonly level: string; readonly killedBy: Readonly<Record<string, readonly string[]>> };
type Level = { readonly folder: string; readonly mode: 'test' | 'postgres' | 'system' };

const UNIT = 'test/unit/';
const RIGS = 'test/rigs/';
/** The lowest first; `mode` is that of vitest. */
const LEVELS: readonly Level[] = [
  { folder: UNIT, mode: 'test' },
  { folder: 'test/integration/', mode: 'test' },
  { folder: 'test/e2e/', mode: 'test' },
  { folder: RIGS, mode: 'test' },
  { folder: 'test/postgres/', mode: 'postgres' },
  { folder: 'test/system/', mode: 'system' },
];
/** How long a level may take: a fault may cause an endless loop. */
const TIME_LIMIT_MS = 600_000;

const [target, ...beginnings] = process.argv.slice(2);
if (target === undefined) throw new Error(`Usage: ${USAGE}`);
const results = resolve(target);
const copy = copyTree();
const runners = new Map<string, Promise<Vitest>>();

const faults = Object.entries(list.faults).flatMap(([file, found]) =>
  found.map((fault): Fault => ({ file, ...fault })),
);
const isStale = ({ file, from }: Fault) => !existsSync(file) || readFileSync(file, 'utf8').split(from).length !== 2;
for (const { file, from } of faults.filter(isStale)) console.error(`is not once in ${file}: ${from}`);
const isWanted = ({ file }: Fault) => beginnings.length === 0 || beginnings.some((path) => file.startsWith(path));
for (const fault of faults.filter((fault) => isWanted(fault) && !isStale(fault))) await tryFault(fault);
for (const runner of runners.values()) await (await runner).close();

async function tryFault(fault: Fault): Promise<void> {
  for (const level of LEVELS) {
    const isThis = (row: Result) => row.file === fault.file && row.from === fault.from && row.level === level.folder;
    const killedBy = readResults().find(isThis)?.killedBy ?? (await runLevel(fault, level));
    if (Object.keys(killedBy).length > 0) return;
  }
}

async function runLevel(fault: Fault, { folder, mode }: Level): Promise<Result['killedBy']> {
  const vitest = await openVitest(mode);
  const specs = (await vitest.globTestSpecifications([folder])).filter(({ moduleId }) => isInArea(moduleId, fault));
  if (specs.length === 0) return {};
  const path = join(copy, fault.file);
  writeFileSync(
    path,
    readFileSync(fault.file, 'utf8').replace(fault.from, () => fault.to),
  );
  vitest.invalidateFile(path);
  if (folder !== UNIT) execFileSync(process.execPath, ['scripts/build.ts'], { cwd: copy });
  const timer = setTimeout(endTests, TIME_LIMIT_MS);
  const { testModules } = await vitest.runTestSpecifications(specs);
  clearTimeout(timer);
  cpSync(fault.file, path);
  vitest.invalidateFile(path);
  // Those of earlier runs are listed, too.
  const ran = new Set(specs.map(({ moduleId }) => moduleId));
  const failed = testModules.filter((module) => ran.has(module.moduleId) && module.state() === 'failed');
  const testsOf = ({ children }: (typeof failed)[number]) =>
    Array.from(children.allTests('failed'), (it) => it.fullName);
  const killedBy = Object.fromEntries(failed.map((module) => [module.relativeModuleId, testsOf(module)]));
  const result: Result = { ...fault, level: folder, killedBy };
  appendFileSync(results, `${JSON.stringify(result)}\n`);
  console.log(`${fault.file} ${fault.from}: ${Object.keys(killedBy).join(', ') || `not noticed in ${folder}`}`);
  return killedBy;
}

function endTests(): void {
  execFileSync('pkill', ['-KILL', '-P', String(process.pid)]);
}

function readResults(): readonly Result[] {
  const lines = existsSync(results) ? readFileSync(results, 'utf8').split('\n') : [];
  return lines.filter(Boolean).map((line) => JSON.parse(line));
}

/**
 * Unit tests by what they import, the model and the simulation by where the fault is, others by name; those of the last levels only if
 * `areas` names the level.
 */
function isInArea(test: string, { file }: Fault): boolean {
  const name = test.slice(copy.length);
  if (name.startsWith(`/${UNIT}`)) return findImports(test).includes(join(copy, file));
  if (name.startsWith(`/${RIGS}`)) return new RegExp(list.simulated).test(file);
  const [, area = 'none'] = Object.entries(list.areas).find(([path]) => file.startsWith(path)) ?? [];
  const [, folder = ''] = /test\/(postgres|system)/.exec(name) ?? [];
  return area.includes(folder) && (name.includes(`/${basename(file, '.ts')}.`) || new RegExp(area).test(name));
}

function findImports(file: string): readonly string[] {
  const text = file.endsWith('.ts') ? readFileSync(file, 'utf8') : '';
  return Array.from(text.matchAll(/(?:from |import\()'(\.[^']*)'/g), ([, path = '']) => resolve(dirname(file), path));
}

/** Kept open, so that a fault costs little more than its tests. */
function openVitest(mode: string): Promise<Vitest> {
  const options = {
    root: copy,
    config: join(copy, 'vitest.config.ts'),
    mode,
    watch: false,
    reporters: [],
    maxWorkers: 3,
  };
  const opened = runners.get(mode) ?? createVitest('test', options);
  runners.set(mode, opened);
  return opened;
}

function copyTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mutation-test-'));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  for (const file of files.split('\0').filter((name) => name !== '' && existsSync(name)))
    cpSync(file, join(folder, file));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  return folder;
}

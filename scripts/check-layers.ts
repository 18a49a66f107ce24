import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

// Import rules: which folder of src may import which, which file or folder may import a library, and that no file
// imports itself through others. Type imports count.

const BASE: readonly string[] = ['config', 'league', 'terminal', 'time'];

/** What each folder may import besides itself; `base` is the files in src itself and the folders of BASE. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  http: ['base'],
  service: ['base', 'http'],
  store: ['base'],
  simulator: [],
  sync: ['base', 'service', 'store'],
  events: ['base', 'service', 'store', 'sync'],
  observe: ['base', 'http', 'service', 'store', 'sync', 'events'],
  webhook: ['base', 'http', 'store', 'events'],
  outputs: ['base', 'store', 'events'],
  mirror: ['base', 'store', 'outputs'],
  worker: ['base', 'http', 'service', 'store', 'sync', 'events', 'observe', 'webhook', 'outputs', 'mirror'],
  check: ['base', 'http', 'service', 'store', 'sync', 'observe', 'outputs', 'mirror'],
  commands: [
    'base',
    'http',
    'service',
    'store',
    'sync',
    'events',
    'observe',
    'webhook',
    'outputs',
    'mirror',
    'worker',
    'check',
    'simulator',
  ],
};

/** The command line stands above all folders: it loads the commands and explains the faults. */
const COMMAND_LINE = 'src/command-line/';
const ABOVE_ALL = ['src/cli.ts', 'src/main.ts', COMMAND_LINE];

const KNOWN_TO: Readonly<Record<string, readonly string[]>> = {
  '@prometheus-io/client': ['src/observe/metrics.ts'],
  'better-sqlite3': ['src/store/'],
  commander: ['src/main.ts', COMMAND_LINE],
  'csv-stringify': ['src/commands/query.ts'],
  'drizzle-orm': ['src/store/'],
  hono: ['src/observe/page/'],
  leven: ['src/config/read-environment.ts'],
  'node-cron': ['src/time/next-cron-time.ts'],
  pg: ['src/mirror/connect.ts'],
  pino: ['src/log.ts'],
  'string-width': ['src/terminal/text.ts'],
  undici: ['src/http/request.ts'],
  zod: ['src/league/response-schemas.ts'],
};

const IMPORT = /(?:from|import)\s*\(?\s*'([^']+)'/g;
const faults: string[] = [];
/** What each file imports, types included. */
const imports = new Map<string, string[]>();

for (const file of globSync('src/**/*.ts')) {
  for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    if (target.startsWith('.')) addImport(file, relative('.', join(dirname(file), target)));
    else if (!target.startsWith('node:')) checkPackage(file, target);
  }
}
for (const file of imports.keys()) checkCircles([file]);
if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}

function addImport(file: string, target: string): void {
  imports.set(file, [...(imports.get(file) ?? []), target]);
  checkLayer(file, target);
}

/** Reports each shortest circle once, at the first of its files by name. */
function checkCircles(start: readonly [string]): void {
  const seen = new Set<string>();
  const paths: (readonly string[])[] = [start];
  for (const path of paths) {
    for (const target of imports.get(path.at(-1) ?? '') ?? []) {
      if (target === start[0]) {
        if (path.every((file) => file >= target)) faults.push(`a circle of imports: ${[...path, target].join(' -> ')}`);
        return;
      }
      if (!seen.has(target)) paths.push([...path, target]);
      seen.add(target);
    }
  }
}

function checkLayer(file: string, target: string): void {
  if (ABOVE_ALL.some((place) => file.startsWith(place))) return;
  const [from, to] = [folderOf(file), folderOf(target)];
  if (from === to || MAY_IMPORT[from]?.includes(to)) return;
  faults.push(
    `${file} must not import ${target}: ${from} may import ${MAY_IMPORT[from]?.join(', ') || 'nothing else'}`,
  );
}

function folderOf(file: string): string {
  if (file === 'src/events.ts') return 'events';
  const folder = dirname(file).replace(/^src\/?/, '');
  const top = folder.split('/')[0] ?? '';
  return top === '' || BASE.includes(top) ? 'base' : top;
}

function checkPackage(file: string, target: string): void {
  const name = target.startsWith('@') ? target.split('/').slice(0, 2).join('/') : (target.split('/')[0] ?? target);
  const places = KNOWN_TO[name];
  if (places === undefined) faults.push(`${file} imports ${name}, which scripts/check-layers.ts does not know`);
  else if (!places.some((place) => file.startsWith(place)))
    faults.push(`${file} imports ${name}, which only ${places} may import`);
}

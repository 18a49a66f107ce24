import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

// Import rules: which folder of src may import which, and which file or folder may import a library. Type imports
// count.

const BASE: readonly string[] = ['config', 'league', 'terminal', 'time'];

/** What each folder may import besides itself; `base` is the files in src itself and the folders of BASE. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  service: ['base'],
  store: ['base'],
  simulator: [],
  sync: ['base', 'service', 'store'],
  observe: ['base', 'service', 'store', 'sync'],
  webhook: ['base', 'service', 'store', 'sync'],
  mirror: ['base', 'service', 'store', 'sync'],
  worker: ['base', 'service', 'store', 'sync', 'observe', 'webhook', 'mirror'],
  check: ['base', 'service', 'store', 'sync', 'observe', 'mirror'],
  commands: ['base', 'service', 'store', 'sync', 'observe', 'webhook', 'mirror', 'worker', 'check', 'simulator'],
};

/** The command line stands above all folders: it loads the commands and explains the faults. */
const COMMAND_LINE = ['options', 'arguments', 'help'].map((part) => `src/command-line-${part}.ts`);
const ABOVE_ALL = ['src/cli.ts', 'src/main.ts', ...COMMAND_LINE];

const KNOWN_TO: Readonly<Record<string, readonly string[]>> = {
  '@prometheus-io/client': ['src/observe/metrics.ts'],
  'better-sqlite3': ['src/store/'],
  commander: ['src/main.ts', ...COMMAND_LINE],
  'csv-stringify': ['src/commands/query.ts'],
  'drizzle-orm': ['src/store/'],
  hono: ['src/observe/page/'],
  leven: ['src/config/environment.ts'],
  'node-cron': ['src/time/cron.ts'],
  pg: ['src/mirror/connect.ts'],
  pino: ['src/log.ts'],
  'string-width': ['src/terminal/text.ts'],
  undici: ['src/service/http.ts'],
  zod: ['src/league/schemas.ts', 'src/simulator/'],
};

const IMPORT = /(?:from|import)\s*\(?\s*'([^']+)'/g;
const faults: string[] = [];

for (const file of globSync('src/**/*.ts')) {
  for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    if (target.startsWith('.')) checkLayer(file, relative('.', join(dirname(file), target)));
    else if (!target.startsWith('node:')) checkPackage(file, target);
  }
}
if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}

function checkLayer(file: string, target: string): void {
  if (ABOVE_ALL.includes(file)) return;
  const [from, to] = [folderOf(file), folderOf(target)];
  if (from === to || MAY_IMPORT[from]?.includes(to)) return;
  faults.push(
    `${file} must not import ${target}: ${from} may import ${MAY_IMPORT[from]?.join(', ') || 'nothing else'}`,
  );
}

function folderOf(file: string): string {
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

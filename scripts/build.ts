import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

// Makes dist/league-sync.cjs: one file with everything but the database addon, which needs its own binary beside it.

const NEEDED_NODE = 24;
const guard = `#!/usr/bin/env node
if (Number.parseInt(process.versions.node, 10) < ${NEEDED_NODE}) {
  process.stderr.write('league-sync needs Node ${NEEDED_NODE} or newer; this is Node ' + process.versions.node + '. "npm install node@${NEEDED_NODE}" puts one beside it; a checkout brings its own, for "./league-sync".\\n');
  process.exit(78);
}
// A diagnostic report of Node would contain the environment, and with it the password; set before anything can fail.
if (process.report) process.report.excludeEnv = true;
// undici parses HTTP in WebAssembly: optimizing that takes 10 MB permanently, and saves nothing measurable per poll.
require('node:v8').setFlagsFromString('--no-wasm-tier-up');
require('node:v8').setFlagsFromString('--no-wasm-dynamic-tiering');
require('node:module').enableCompileCache?.();
const bundleUrl = require('node:url').pathToFileURL(__filename).href;`;

/** Puts the files that browsers load into the bundle: the source reads them when it starts. */
const pageFiles: Plugin = {
  name: 'page files',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]page[\\/]files\.ts$/ }, ({ path }) => {
      const textOf = (name: string): string => JSON.stringify(readFileSync(join(dirname(path), name), 'utf8'));
      return { contents: `export const STYLE = ${textOf('page.css')}; export const SCRIPT = ${textOf('page.js')};` };
    });
  },
};

const { metafile, outputFiles } = await build({
  entryPoints: ['src/cli.ts'],
  outfile: 'dist/league-sync.cjs',
  bundle: true,
  platform: 'node',
  plugins: [pageFiles],
  // Older syntax than the program needs, so that an older Node reaches the version check above.
  target: 'node18',
  format: 'cjs',
  // pg-native is a part of pg that nobody installs.
  external: ['better-sqlite3', 'pg-native'],
  define: { 'import.meta.dirname': '__dirname', 'import.meta.url': 'bundleUrl' },
  banner: { js: guard },
  // V8 keeps the source text in memory, so it is minified; line breaks are kept for stack traces.
  minifyWhitespace: true,
  lineLimit: 160,
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
});
mkdirSync('dist', { recursive: true });
for (const file of outputFiles) requireAscii(file.text);
// npx runs the bin of a checkout in place, so it must be executable.
for (const file of outputFiles) replaceFile('dist/league-sync.cjs', file.contents, 0o755);
replaceFile('dist/THIRD-PARTY-NOTICES.txt', collectNotices(metafile), 0o644);

/** Throws if the source is not ASCII: V8 keeps a text with wider characters in two bytes per character, 3 MB more. */
function requireAscii(source: string): void {
  const line = source.split('\n').find((text) => /[^\0-\x7f]/.test(text));
  if (line !== undefined)
    throw new Error(`The bundle would not be ASCII; write the character as an escape or an entity: ${line}`);
}

/** Replaces the file atomically: a worker may be starting from it. */
function replaceFile(path: string, content: string | Uint8Array, mode: number): void {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, content, { mode });
  renameSync(temporary, path);
}

/** The licences of every package whose code is in the bundle, as they ask for. */
function collectNotices(meta: Metafile): string {
  const folders = new Set<string>();
  for (const input of Object.keys(meta.inputs)) {
    const match = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match?.[0] !== undefined) folders.add(match[0]);
  }
  return [...folders]
    .sort()
    .map(noticeOf)
    .join(`\n${'-'.repeat(80)}\n`);
}

function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const file of ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'LICENCE', 'license.md']) {
    try {
      return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    } catch {
      // Packages name this file differently; the next name is tried.
    }
  }
  return `${name} ${version} (${license})\n`;
}

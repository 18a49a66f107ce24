import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

// Makes dist/league-sync.cjs: one file with everything but the database addon, which needs its own binary beside it.

const NEEDED_NODE = 24;
const guard = `#!/usr/bin/env node
if (Number.parseInt(process.versions.node, 10) < ${NEEDED_NODE}) {
  process.stderr.write('league-sync needs Node ${NEEDED_NODE} or newer; this is Node ' + process.versions.node + '. In a checkout, "npx league-sync" brings its own.\\n');
  process.exit(78);
}
require('node:module').enableCompileCache?.();
const bundleUrl = require('node:url').pathToFileURL(__filename).href;`;

rmSync('dist', { recursive: true, force: true });
mkdirSync('dist');
const { metafile } = await build({
  entryPoints: ['src/cli.ts'],
  outfile: 'dist/league-sync.cjs',
  bundle: true,
  platform: 'node',
  // Older syntax than the program needs, so that an older Node gets as far as the sentence above.
  target: 'node18',
  format: 'cjs',
  external: ['better-sqlite3'],
  define: { 'import.meta.dirname': '__dirname', 'import.meta.url': 'bundleUrl' },
  banner: { js: guard },
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});
// npx runs a checkout's own bin as it lies there.
chmodSync('dist/league-sync.cjs', 0o755);
writeFileSync('dist/THIRD-PARTY-NOTICES.txt', collectNotices(metafile));

/** The licences of every package whose code is in the bundle, as they ask for. */
function collectNotices(meta: Metafile): string {
  const names = new Set<string>();
  for (const input of Object.keys(meta.inputs)) {
    const match = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match?.[0] !== undefined) names.add(match[0]);
  }
  return [...names]
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
      // Packages do not agree on the name of this file; the next one is tried.
    }
  }
  return `${name} ${version} (${license})\n`;
}

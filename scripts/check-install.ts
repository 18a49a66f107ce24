import { readFileSync } from 'node:fs';

// Checks what `npm ci` needs on a machine without Python and compiler, under npm 10, 11 and 12. Each of these was once
// broken by an ordinary `npm install`.

type Locked = {
  readonly gypfile?: boolean;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};
type Manifest = { readonly allowScripts?: Readonly<Record<string, boolean>> };

const manifest: Manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const packages: Readonly<Record<string, Locked>> = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
const faults: string[] = [];

if (packages['node_modules/better-sqlite3']?.gypfile !== false) {
  faults.push('package-lock.json: "node_modules/better-sqlite3" needs "gypfile": false, or npm 10 calls node-gyp');
}
for (const [path, entry] of Object.entries(packages)) {
  const name = path.replace(/^.*node_modules\//, '');
  if (entry.resolved !== undefined && path !== '') faults.push(`package-lock.json: ${path} names a download address`);
  if (entry.hasInstallScript === true && manifest.allowScripts?.[name] === undefined) {
    faults.push(`package.json: allowScripts says nothing of ${name}, which has an install script`);
  }
  // npm drops the entries of other platforms if they could not be fetched, and then fails to install there.
  for (const optional of Object.keys(entry.optionalDependencies ?? {})) {
    const there = Object.keys(packages).some((other) => other.endsWith(`node_modules/${optional}`));
    if (!there) faults.push(`package-lock.json: ${name || 'the project'} lacks its optional part ${optional}`);
  }
}
if (manifest.allowScripts?.node !== true) faults.push('package.json: allowScripts must let "node" install its binary');

if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}

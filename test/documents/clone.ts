import { execFile, execFileSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Ended } from './terminal.ts';

type Environment = Readonly<Record<string, string>>;

/** Clones HEAD of a project into a new folder. */
export function makeClone(project: string, folder: string): string {
  execFileSync('git', ['clone', '--quiet', project, folder]);
  return folder;
}

/** A clone with the packages that `npm ci` installed in another clone. They are shared, and never written. */
export function copyInstalled(project: string, installed: string, folder: string): string {
  makeClone(project, folder);
  symlinkSync(join(installed, 'node_modules'), join(folder, 'node_modules'));
  cpSync(join(installed, 'dist'), join(folder, 'dist'), { recursive: true, preserveTimestamps: true });
  return folder;
}

/** The names and texts of the documents that a clone holds. */
export function readDocuments(clone: string): ReadonlyMap<string, string> {
  const files = execFileSync('git', ['ls-files', '*.md'], { cwd: clone, encoding: 'utf8' }).trim().split('\n');
  return new Map(files.map((file) => [file, readFileSync(join(clone, file), 'utf8')]));
}

/** The environment of a new user of this machine. */
export function newcomer(home: string): Environment {
  const path = (process.env.PATH ?? '').split(':').filter((folder) => !folder.endsWith('node_modules/.bin'));
  return { PATH: path.join(':'), HOME: home, LANG: 'C.UTF-8', TERM: 'xterm', USER: 'root', SHELL: '/bin/bash' };
}

/** The same environment with access to the npm registry and its cache. */
export function withRegistry(env: Environment): Environment {
  const real = { ...env, HOME: process.env.HOME ?? '/root' };
  const names = ['userconfig', 'globalconfig', 'cache'];
  const configured = names.map((name) => [
    `npm_config_${name}`,
    execFileSync('npm', ['config', 'get', name], {
      env: real,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim(),
  ]);
  const inherited = Object.entries(process.env).filter(([name]) =>
    /^(npm_config_(registry|cafile)|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i.test(name),
  );
  return { ...env, ...Object.fromEntries(inherited), ...Object.fromEntries(configured) };
}

/** Runs a command that needs the registry. */
export async function fetchBy(command: string, cwd: string, env: Environment, limitMs: number): Promise<Ended> {
  try {
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command], { cwd, env, timeout: limitMs });
    return { code: 0, printed: `${stdout}${stderr}` };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    return { code: typeof code === 'number' ? code : -1, printed: `${stdout}${stderr}` };
  }
}

import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { findPackage } from '../../src/package.ts';
import { readMigrations } from '../../src/store/migrate.ts';
import { PROGRAM } from './program.ts';

const { migrations } = findPackage();
export const PRESENT_SCHEMA = readMigrations(migrations).length;

/** Copies the migrations to this folder, and adds one. */
export function addMigration(copy: string, statements: readonly string[]): string {
  cpSync(migrations, copy, { recursive: true });
  const file = join(copy, 'meta', '_journal.json');
  const journal = JSON.parse(readFileSync(file, 'utf8'));
  const tag = `${String(PRESENT_SCHEMA).padStart(4, '0')}_more`;
  journal.entries.push({ idx: PRESENT_SCHEMA, version: '6', when: 1_795_300_000_000, tag, breakpoints: true });
  writeFileSync(file, JSON.stringify(journal));
  writeFileSync(join(copy, `${tag}.sql`), statements.join('\n--> statement-breakpoint\n'));
  return copy;
}

/** The command that runs a later version instead of the program: the built one, with one more migration. */
export function makeLaterVersion(...statements: readonly string[]): readonly string[] {
  // Outside of the folders that are searched for secrets: the program contains the password of its own simulator.
  const root = mkdtempSync(join(tmpdir(), 'league-sync-later-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'dist'), { recursive: true });
  copyFileSync(PROGRAM, join(root, 'dist', 'league-sync.cjs'));
  copyFileSync(join(migrations, '../package.json'), join(root, 'package.json'));
  symlinkSync(join(migrations, '../node_modules'), join(root, 'node_modules'));
  addMigration(join(root, 'migrations'), statements);
  return ['sh', '-c', 'node=$1; shift 2; exec "$node" "$0" "$@"', join(root, 'dist', 'league-sync.cjs')];
}

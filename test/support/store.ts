import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findPackage } from '../../src/package.ts';
import { replaceCopy, tempPath } from '../../src/store/atomic-copy.ts';
import { withReader } from '../../src/store/connection.ts';
import { openStore, type Store, type StoreOptions } from '../../src/store/store.ts';
import { systemClock } from '../../src/time/clock.ts';
import { execute } from './database.ts';
import { fastFolder } from './folder.ts';

/** Opens a store like the worker, except for the given options. Copies before an upgrade are made in this process. */
export async function openTestStore(path: string, options: Partial<StoreOptions> = {}): Promise<Store> {
  if (options.migrations === undefined && options.clock === undefined) await placeEmpty(path);
  return migrateAndOpen(path, options);
}

let empty: Promise<Buffer> | undefined;

/** Makes a database without rows, unless there is one. Copies a file, since migrating takes most of an opening. */
export async function placeEmpty(path: string): Promise<void> {
  if (existsSync(path)) return;
  empty ??= makeEmpty();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, await empty);
  execute(path, 'UPDATE database_identity SET id = lower(hex(randomblob(16)))');
}

async function makeEmpty(): Promise<Buffer> {
  const folder = mkdtempSync(join(fastFolder(), 'league-sync-empty-'));
  const path = join(folder, 'leagues.db');
  await (await migrateAndOpen(path, {}))[Symbol.asyncDispose]();
  const bytes = readFileSync(path);
  rmSync(folder, { recursive: true });
  return bytes;
}

function migrateAndOpen(path: string, options: Partial<StoreOptions>): Promise<Store> {
  return openStore(path, {
    migrations: findPackage().migrations,
    clock: systemClock,
    stop: new AbortController().signal,
    copyBeforeUpgrade: async ({ copy }) =>
      withReader(path, (db) =>
        replaceCopy(db, copy, { part: tempPath(copy), replaceable: 'earlier', isParentAlive: () => true }),
      ),
    onLongWait: () => undefined,
    lock: { renew: () => undefined },
    onClosed: () => undefined,
    ...options,
  });
}

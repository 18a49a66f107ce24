import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type SimulatedBench, setUpSynced } from '../support/bench.ts';
import { pad } from '../support/copy-process.ts';
import { askSqlite3, isWritten, readRows } from '../support/database.ts';
import { makeLaterVersion, PRESENT_SCHEMA } from '../support/later-version.ts';
import { eventually, type RunningProgram } from '../support/program.ts';
import { expectCleanStop } from '../support/stopping.ts';

const QUICK = 'ALTER TABLE `leagues` ADD COLUMN `note` TEXT;';
/** A statement of a second or two. */
const SLOW = `CREATE TABLE slow AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000000) SELECT count(*) AS n FROM n;`;

function versionOf(path: string): unknown {
  return askSqlite3(path, 'PRAGMA user_version')[0]?.user_version;
}

function copyOf(database: string): string {
  return `${database}.schema-${PRESENT_SCHEMA}`;
}

/** Whether the temporary file of a copy exists. */
function isCopying(database: string): boolean {
  return readdirSync(dirname(database)).some((name) => name.includes('league-sync-part'));
}

/** Expects the old schema, or the new one and the copy; the next start has the new one. */
async function expectUpgradeable(bench: SimulatedBench, through: readonly string[]): Promise<void> {
  const copy = copyOf(bench.database);
  // The process that copies notices a kill of its worker when the copy is complete.
  await eventually('no part of a copy is left', () => !isCopying(bench.database));
  expect([PRESENT_SCHEMA, PRESENT_SCHEMA + 1]).toContain(versionOf(bench.database));
  if (versionOf(bench.database) !== PRESENT_SCHEMA) expect(existsSync(copy)).toBe(true);
  expect((await bench.runProcess(['sync'], {}, { through })).code).toBe(0);
  expect([versionOf(bench.database), versionOf(copy)]).toEqual([PRESENT_SCHEMA + 1, PRESENT_SCHEMA]);
  expect(readRows(copy, 'SELECT count(*) AS n FROM leagues')).toEqual([{ n: 124 }]);
}

async function end(bench: SimulatedBench, worker: RunningProgram, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (signal === 'SIGTERM') await expectCleanStop(bench, worker);
  else await worker.stop(signal);
}

describe.each(['SIGTERM', 'SIGKILL'] as const)(
  'a worker of a newer version that gets %s at its first start',
  (signal) => {
    it('while it copies the database leaves one that the next start upgrades', async () => {
      const bench = await setUpSynced();
      pad(bench.database);
      const through = makeLaterVersion(QUICK);
      const worker = bench.start(['run'], {}, { through });
      await eventually('the copy is begun', () => isCopying(bench.database));
      await end(bench, worker, signal);
      await expectUpgradeable(bench, through);
    });

    it('within the migration leaves one that the next start upgrades', async () => {
      const bench = await setUpSynced();
      const through = makeLaterVersion(SLOW);
      const worker = bench.start(['run'], {}, { through });
      await eventually('the copy is there', () => existsSync(copyOf(bench.database)));
      await eventually('the migration is under way', () => isWritten(bench.database));
      await end(bench, worker, signal);
      await expectUpgradeable(bench, through);
    });
  },
);

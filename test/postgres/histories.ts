import { globSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { MirrorTarget } from '../../src/config/mirror.ts';
import { readPostgresUrl } from '../../src/config/postgres-url.ts';
import { connect, type Session } from '../../src/mirror/connect.ts';
import { rebuildMirror } from '../../src/mirror/rebuild.ts';
import { prepareMirror } from '../../src/mirror/schema.ts';
import { type Progress, readOrigin, transferBatch } from '../../src/mirror/transfer.ts';
import { openMirrorSnapshot } from '../../src/store/queries/mirror.ts';
import type { Shape } from '../rigs/model/arbitrary.ts';
import type { ModelBench } from '../rigs/model/bench.ts';
import { FEW, MANY, playHistories, SEED } from '../rigs/model/histories.ts';
import { withDatabase } from '../support/database.ts';
import { ALL_RELATIONS, expectMirrored, FEED_RELATIONS } from './compare.ts';
import { connectAs, createPostgres, type Postgres, skipWithoutPostgres } from './postgres.ts';

/** The tests of this many histories of a few leagues, and of so many that the guard acts. */
export function testHistories(few: number, many: number): void {
  skipWithoutPostgres();
  describe(`the mirror of a random history of polls (TEST_SEED=${SEED})`, () => {
    it.each([
      ['a few leagues', FEW, few],
      ['so many leagues that the guard acts', MANY, many],
    ])('of %s has every value', (_, shape, numRuns) => mirrorHistories(shape, numRuns));
  });
}

/**
 * Mirrors random histories: now and then a few polls at once, in transactions that end with each of them; at the end
 * after old runs were deleted; and by a rebuild. Compares after each transaction.
 */
async function mirrorHistories(shape: Shape, numRuns: number): Promise<void> {
  const postgres = await createPostgres();
  let schemas = 0;
  await playHistories(shape, numRuns, SEED, (bench) => {
    schemas += 1;
    return withMirror(bench, postgres, `history ${schemas}`);
  });
}

/** Some numbers of polls that are mirrored at once. */
const POLLS_AT_ONCE = [1, 3, 2, 4];

/** Like the worker, deletes neither the last good run nor those after it. */
const PRUNE = `DELETE FROM runs WHERE outcome IN ('unchanged', 'failed') AND id % 2 = 0
  AND id < (SELECT good_run_id FROM last_polls)`;

async function withMirror(bench: ModelBench, postgres: Postgres, schema: string): Promise<ModelBench> {
  const mirror = createMirror(bench.path, { server: readPostgresUrl(postgres.url, 'URL', {}), schema });
  const client = await connectAs(postgres.port, postgres.name);
  const query = async (sql: string) => (await client.query(sql)).rows;
  const expectEqual = (path = bench.path, relations = ALL_RELATIONS) =>
    expectMirrored(path, query, { schema, relations });
  const copyAt = (seq: number): string => `${bench.path}.${seq}`;
  let rounds = 0;
  let polls = 0;

  async function transfer(): Promise<void> {
    for (;;) {
      const { seq, lastSeq } = await mirror.transferRun();
      if (seq === lastSeq) break;
      await expectEqual(copyAt(seq), FEED_RELATIONS);
    }
    await expectEqual();
  }

  return {
    ...bench,
    poll: async (step, answer) => {
      const report = await bench.poll(step, answer);
      keepCopy(bench.path, copyAt);
      polls += 1;
      if (polls < (POLLS_AT_ONCE[rounds % POLLS_AT_ONCE.length] ?? 1)) return report;
      polls = 0;
      rounds += 1;
      await transfer();
      return report;
    },
    [Symbol.asyncDispose]: async () => {
      try {
        await transfer();
        bench.write(PRUNE);
        await transfer();
        const { seq, lastSeq } = await mirror.rebuild();
        expect(seq).toBe(lastSeq);
        await expectEqual();
        await client.query(`DROP SCHEMA "${schema}" CASCADE`);
      } finally {
        await client.end();
        mirror.close();
        for (const copy of globSync(`${bench.path}.*`)) rmSync(copy);
        await bench[Symbol.asyncDispose]();
      }
    },
  };
}

/** Keeps the file as it was when it ended with its last change. */
function keepCopy(path: string, copyAt: (seq: number) => string): void {
  withDatabase(path, (db) => {
    const copy = copyAt(Number(db.prepare('SELECT max(seq) FROM league_changes').pluck().get()));
    rmSync(copy, { force: true });
    db.prepare('VACUUM INTO ?').run(copy);
  });
}

function createMirror(path: string, target: MirrorTarget) {
  const openSnapshot = async () => openMirrorSnapshot(path);
  let session: Session | undefined;
  let runs: 'all' | 'recent' = 'all';
  const open = async (): Promise<Session> => {
    const opened = await connect(target);
    await prepareMirror(opened, await readOrigin(openSnapshot));
    return opened;
  };
  return {
    /** Writes one transaction, which ends with the next run that has changes. */
    transferRun: async (): Promise<Progress> => {
      session ??= await open();
      const progress = await session.transaction((tx) => transferBatch(tx, { openSnapshot, runs, batchChanges: 1 }));
      runs = 'recent';
      return progress;
    },
    rebuild: () => rebuildMirror(path, target, () => undefined),
    close: () => session?.[Symbol.dispose](),
  };
}

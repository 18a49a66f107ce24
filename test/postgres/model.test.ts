import { beforeEach, describe, expect, it } from 'vitest';
import { connect, type Session } from '../../src/mirror/connect.ts';
import { createSentPages } from '../../src/mirror/equal.ts';
import { prepareMirror } from '../../src/mirror/prepare.ts';
import { transferBatch } from '../../src/mirror/transfer.ts';
import { openMirrorSnapshot } from '../../src/store/queries/mirror.ts';
import type { ModelBench } from '../rigs/model/bench.ts';
import { FEW, MANY, playHistories, SEED } from '../rigs/model/histories.ts';
import { missingPostgres } from '../support/postgres-server.ts';
import { expectMirrored } from './compare.ts';
import { connectAs, createPostgres, type Postgres } from './postgres.ts';

beforeEach(({ skip }) => {
  const why = missingPostgres();
  if (why !== undefined) skip(why);
});

let schemas = 0;

/** Mirrors the database of a history after most of its polls, and compares everything each time. */
async function mirrored(bench: ModelBench, postgres: Postgres): Promise<ModelBench> {
  schemas += 1;
  const schema = `history ${schemas}`;
  const target = { url: new URL(postgres.url), schema };
  const sent = createSentPages();
  const stop = new AbortController();
  let session: Session | undefined;
  const query = await connectAs(postgres.port, postgres.name);
  let polls = 0;
  const mirror = async (): Promise<void> => {
    session ??= await open();
    const openSnapshot = async () => openMirrorSnapshot(bench.path);
    const progress = await session.transaction((tx) => transferBatch(tx, { openSnapshot, sent }));
    expect(progress.seq).toBe(progress.lastSeq);
    await expectMirrored(bench.path, async (sql) => (await query.query(sql)).rows, schema);
  };
  const open = async (): Promise<Session> => {
    const opened = await connect(target, stop.signal);
    using snapshot = openMirrorSnapshot(bench.path);
    await prepareMirror(opened, { databaseId: snapshot.databaseId(), path: bench.path });
    return opened;
  };
  return {
    ...bench,
    poll: async (step, answer) => {
      const report = await bench.poll(step, answer);
      polls += 1;
      if (polls % 3 > 0) await mirror();
      return report;
    },
    [Symbol.asyncDispose]: async () => {
      await query.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await query.end();
      session?.[Symbol.dispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

describe('a mirror has every value of any history', () => {
  it.each([
    ['a few leagues', FEW, 60],
    ['so many leagues that the guard acts', MANY, 15],
  ])(`%s, random histories (TEST_SEED=${SEED})`, async (_, shape, numRuns) => {
    const postgres = await createPostgres();
    await playHistories(shape, numRuns, SEED, (bench) => mirrored(bench, postgres));
  });
});

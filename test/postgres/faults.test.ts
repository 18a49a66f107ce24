import { copyFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillDisk } from '../rigs/disk/small-disk.ts';
import { mountDisk, NO_MOUNT } from '../support/copy-process.ts';
import type { RunningProgram } from '../support/program.ts';
import { stopInTime } from '../support/stopping.ts';
import { expectMirrored } from './compare.ts';
import { createPostgres, type Postgres, skipWithoutPostgres } from './postgres.ts';
import { missingPostgres, type PostgresServer, startPostgres } from './server.ts';
import { change, expectToFollow, lastSeq, mirroredSeq, setUpMirrored } from './worker.ts';

skipWithoutPostgres();

let server: PostgresServer;
/** A server that the tests may stop. */
beforeAll(async () => {
  if (missingPostgres() === undefined) server = await startPostgres();
});
afterAll(() => server?.remove());

/** A worker whose first poll is in the mirror. */
async function start() {
  const postgres = await createPostgres(server.port);
  const bench = await setUpMirrored(postgres);
  const worker = bench.startWorker();
  await worker.waitForPoll('changed');
  await expectToFollow(bench, postgres);
  await expectNoConnection(postgres);
  const poll = async (priority: number): Promise<void> => {
    change(bench, 5, priority);
    await worker.pollNow('changed');
  };
  return { postgres, bench, worker, poll };
}

/** Waits until the process that filled the mirror has ended. */
async function expectNoConnection({ query }: Postgres): Promise<void> {
  const connections = () => query("SELECT pid FROM pg_stat_activity WHERE application_name = 'league-sync'");
  await expect.poll(connections, { timeout: 20_000 }).toEqual([]);
}

function warningOf(worker: RunningProgram): string {
  return String(worker.log().find(({ level }) => level === 40)?.msg);
}

describe('the mirror', () => {
  it('delays neither a poll nor the stop of the worker when the server hangs', async () => {
    const { postgres, bench, worker, poll } = await start();
    server.signal('SIGSTOP');
    try {
      await poll(7);
      await poll(8);
      expect((await stopInTime(worker)).code).toBe(0);
    } finally {
      server.signal('SIGCONT');
    }
    expect((await bench.run(['mirror'])).code).toBe(0);
    await expectMirrored(bench.database, postgres.query);
  });

  it('is tried again at once on SIGHUP, while no server is there', async () => {
    const bench = await setUpMirrored({ url: 'postgres://127.0.0.1:1/leagues' });
    const worker = bench.startWorker();
    const read = () =>
      bench.rows("SELECT failed_attempts AS failed, next_attempt_at FROM outputs WHERE name = 'mirror'");
    const failed = () => Number(read()[0]?.failed);
    await expect.poll(failed, { timeout: 60_000 }).toBeGreaterThanOrEqual(5);
    const [before] = read();
    worker.send('SIGHUP');
    await expect.poll(failed, { timeout: 20_000 }).toBeGreaterThan(Number(before?.failed));
    expect(new Date().toISOString() < String(before?.next_attempt_at)).toBe(true);
  });

  it('says that the disk of the server is full, and goes on when there is space', async ({ skip }) => {
    const postgres = await createPostgres(server.port);
    const disk = mountDisk(`${server.folder}/disk`, 'size=8m,uid=65534,gid=65534,mode=700');
    if (disk === undefined) return skip(NO_MOUNT);
    await postgres.query(`CREATE TABLESPACE small LOCATION '${disk}'`);
    await postgres.query('GRANT CREATE ON TABLESPACE small TO PUBLIC');
    await postgres.query(`ALTER ROLE ${postgres.role} SET default_tablespace = small`);
    const bench = await setUpMirrored(postgres);
    const worker = bench.startWorker();
    await worker.waitForPoll('changed');
    await expectToFollow(bench, postgres);
    const filler = fillDisk(disk, 2);
    const seq = await mirroredSeq(postgres);
    for (const priority of [7, 8, 9]) {
      change(bench, 100, priority);
      await worker.pollNow('changed');
    }
    await expect
      .poll(() => warningOf(worker))
      .toMatch(/^The mirror at .+ cannot be used: could not extend file .+No space left on device/);
    expect(await mirroredSeq(postgres)).toBeLessThan(lastSeq(bench));
    rmSync(filler);
    worker.send('SIGHUP');
    await expectToFollow(bench, postgres);
    expect(await mirroredSeq(postgres)).toBeGreaterThan(seq + 200);
  });

  it('names the right that is missing, with the statement that grants it', async () => {
    const postgres = await createPostgres(server.port);
    const bench = await setUpMirrored(postgres);
    await bench.run(['sync']);
    await postgres.query(`REVOKE CREATE ON DATABASE ${postgres.name} FROM ${postgres.role}`);
    const refused = await bench.run(['mirror']);
    expect(refused.code).toBe(1);
    expect(refused.stderr.replaceAll(/\s+/g, ' ')).toContain(
      `GRANT CREATE ON DATABASE ${postgres.name} TO ${postgres.role}`,
    );
    await postgres.query('CREATE SCHEMA league_sync');
    expect((await bench.run(['mirror'])).stderr.replaceAll(/\s+/g, ' ')).toContain(
      `GRANT USAGE, CREATE ON SCHEMA league_sync TO ${postgres.role}`,
    );
    await postgres.query(`GRANT USAGE, CREATE ON SCHEMA league_sync TO ${postgres.role}`);
    expect((await bench.run(['mirror'])).code).toBe(0);
    await expectMirrored(bench.database, postgres.query);
  });

  it('refuses an older copy of the file, and one that went on by itself', async () => {
    const { postgres, bench, worker, poll } = await start();
    const copy = `${bench.folder}/copy.db`;
    expect((await bench.run(['backup', copy])).code).toBe(0);
    await poll(7);
    await expectToFollow(bench, postgres);
    const seq = await mirroredSeq(postgres);
    await worker.stop();
    copyFileSync(copy, bench.database);
    const older = await bench.run(['mirror']);
    expect(older.code).toBe(74);
    expect(older.stderr.replaceAll(/\s+/g, ' ')).toMatch(/The mirror is ahead of .+ league-sync mirror rebuild/);
    const next = bench.startWorker();
    expect((await next.waitForLog(({ level }) => level === 40)).msg).toMatch(/^The mirror is ahead of/);
    change(bench, 7, 9);
    await next.pollNow('changed');
    await next.stop();
    const forked = await bench.run(['mirror']);
    expect(forked.code).toBe(74);
    expect(forked.stderr.replaceAll(/\s+/g, ' ')).toMatch(
      /The mirror and .+ differ: change \d+ is not the same in both.+ league-sync mirror rebuild/,
    );
    expect(await mirroredSeq(postgres)).toBe(seq);
  });

  it('refuses a second database, with the id and the path of the first', async () => {
    const { postgres, bench, worker } = await start();
    await worker.stop();
    const [row] = await postgres.query('SELECT database FROM league_sync.mirror_state');
    const other = { LEAGUE_SYNC_DATABASE: 'other.db' };
    await bench.run(['sync'], other);
    const { code, stderr } = await bench.run(['mirror'], other);
    expect(code).toBe(74);
    const said = stderr.replaceAll(/\s+/g, ' ');
    expect(said).toContain(String(row?.database));
    expect(said).toContain(bench.database);
    const rebuild = await bench.run(['mirror', 'rebuild'], other);
    expect([rebuild.code, rebuild.stderr.includes('The mirror belongs to another database')]).toEqual([74, true]);
    await expectMirrored(bench.database, postgres.query);
  });
});

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addSettings, type SimulatedBench, setUp } from '../support/bench.ts';
import { mountFile } from '../support/copy-process.ts';
import { readRows } from '../support/database.ts';
import { unlessAll } from '../support/extent.ts';
import { makeLeagues } from '../support/leagues.ts';
import { eventually, type RunningProgram } from '../support/program.ts';

/** What is done to the file of a worker again and again, with each end of that worker. */
const REPETITIONS = unlessAll(1, 25);

type Place = { readonly bench: SimulatedBench; readonly worker: RunningProgram; readonly backup: string };

/** A worker that has reported changes after a backup was made; most of them are in the WAL alone. */
async function startWorker(): Promise<Place> {
  const bench = await setUp({ leagues: makeLeagues(1) });
  const backup = join(bench.folder, 'backup.db');
  const worker = bench.start(['run']);
  await worker.waitForPoll('changed');
  expect((await bench.run(['backup', backup])).code).toBe(0);
  for (let poll = 1; poll < 4; poll += 1) {
    bench.simulator.setLeagues(makeLeagues(1 + poll));
    await worker.pollNow('changed');
  }
  return { bench, worker, backup };
}

const REPORTED = 4;

const changesIn = (path: string) => readRows(path, 'SELECT count(*) AS n FROM league_changes');
const isSound = (path: string) => readRows(path, 'PRAGMA integrity_check');
const SOUND = [{ integrity_check: 'ok' }];

/** What the last line of the log, or an earlier one, says of where everything is. */
function savedPlace(worker: RunningProgram): string {
  const texts = worker.log().map(({ msg }) => String(msg));
  return texts.map((text) => /all that it held is in (\S+?)(?:;|$)/.exec(text)?.[1]).findLast(Boolean) ?? 'nowhere';
}

async function end({ worker }: Place, how: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (how === 'SIGKILL') await eventually('the worker has noticed', () => worker.log().some(isNotice));
  const { code } = await worker.stop(how);
  expect(code).toBe(how === 'SIGTERM' ? 0 : null);
}

const isNotice = ({ msg }: { readonly msg?: unknown }) => /while the worker ran; nothing new/.test(String(msg));

describe.each(Array.from({ length: REPETITIONS }, (_, index) => index + 1))('time %i: the database of a worker', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'whose file was replaced by a backup before a %s is in the file that the log names',
    async (signal) => {
      const place = await startWorker();
      const { bench, worker, backup } = place;
      renameSync(backup, bench.database);
      expect((await bench.run(['sync'])).code).toBe(75);
      await end(place, signal);
      const saved = savedPlace(worker);
      expect([changesIn(saved), isSound(saved)]).toEqual([[{ n: REPORTED }], SOUND]);
      expect([changesIn(bench.database), isSound(bench.database)]).toEqual([[{ n: 1 }], SOUND]);
      expect((await bench.run(['sync'])).code).toBe(0);
      expect(isSound(bench.database)).toEqual(SOUND);
    },
  );

  it.each([
    ['a backup', ({ backup }: Place) => backup],
    [
      'a text',
      ({ bench }: Place) => {
        const text = join(bench.folder, 'text');
        writeFileSync(text, 'Dear diary, this is no database. '.repeat(2_000));
        return text;
      },
    ],
  ])('that was overwritten by %s is left so, and its WAL is kept', async (_, source) => {
    const place = await startWorker();
    const { bench, worker } = place;
    const other = source(place);
    copyFileSync(other, bench.database);
    await end(place, 'SIGTERM');
    expect(String(worker.log().at(-1)?.msg)).toContain(
      `what was not written to it yet is in ${bench.database}.saved-wal`,
    );
    expect(readdirSync(dirname(bench.database)).sort()).toEqual(['leagues.db', 'leagues.db.saved-wal']);
    execFileSync('cmp', [other, bench.database]);
    expect(worker.log().some(({ msg }) => /all data saved/.test(String(msg)))).toBe(false);
  });

  it('that was overwritten and then moved away never gets the WAL, which is kept', async () => {
    const place = await startWorker();
    const { bench, worker, backup } = place;
    const away = join(bench.folder, 'away.db');
    copyFileSync(backup, bench.database);
    renameSync(bench.database, away);
    await end(place, 'SIGTERM');
    expect(savedPlace(worker)).toBe('nowhere');
    execFileSync('cmp', [backup, away]);
    expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db.saved-wal']);
  });

  it('whose file was moved back and then overwritten is not said to be where it was meanwhile', async () => {
    const place = await startWorker();
    const { bench, worker, backup } = place;
    const away = join(bench.folder, 'away.db');
    renameSync(bench.database, away);
    await eventually('the worker names the place', () => savedPlace(worker) === away);
    renameSync(away, bench.database);
    copyFileSync(backup, bench.database);
    await end(place, 'SIGTERM');
    expect(String(worker.log().at(-1)?.msg)).toContain('what was not written to it yet is in');
    execFileSync('cmp', [backup, bench.database]);
  });

  it('whose file was moved, moved again and then deleted is in a copy beside its place, which the log names', async () => {
    const { bench, worker } = await startWorker();
    const [first, second] = ['first.db', 'second.db'].map((name) => join(bench.folder, name)) as [string, string];
    renameSync(bench.database, first);
    await eventually('the worker names the first place', () => savedPlace(worker) === first);
    renameSync(first, second);
    rmSync(second);
    await eventually('a copy is made', () => savedPlace(worker) === `${bench.database}.saved`);
    const { stderr } = await bench.run(['status']);
    expect(stderr).toContain("mv 'data/leagues.db.saved' 'data/leagues.db'");
    expect((await worker.stop()).code).toBe(0);
    const saved = savedPlace(worker);
    expect(saved).toBe(`${bench.database}.saved`);
    expect([changesIn(saved), isSound(saved)]).toEqual([[{ n: REPORTED }], SOUND]);
  });

  it('whose file was moved just before a kill is complete once it is put back, and no new one takes its place', async () => {
    const { bench, worker } = await startWorker();
    renameSync(bench.database, `${bench.database}.moved`);
    await worker.stop('SIGKILL');
    if (existsSync(`${bench.database}-wal`)) {
      expect(await bench.run(['sync'])).toMatchObject({
        code: 74,
        stderr: expect.stringContaining('put the database back'),
      });
      expect(existsSync(bench.database)).toBe(false);
    }
    renameSync(`${bench.database}.moved`, bench.database);
    expect((await bench.run(['sync'])).code).toBe(0);
    expect([changesIn(bench.database), isSound(bench.database)]).toEqual([[{ n: REPORTED }], SOUND]);
  });

  it('with a second name, by which a second worker would corrupt it, is refused until it is repaired', async () => {
    const { bench, worker } = await startWorker();
    const other = addSettings(bench, { LEAGUE_SYNC_DATABASE: join(bench.folder, 'other', 'leagues.db') });
    mkdirSync(join(bench.folder, 'other'));
    linkSync(bench.database, join(bench.folder, 'other', 'leagues.db'));
    for (const command of ['run', 'sync', 'profile']) expect((await other.run([command])).code, command).toBe(74);
    await worker.waitForLog(({ msg }) => /has 2 names now/.test(String(msg)));
    expect((await worker.stop()).code).toBe(0);
    const { stderr } = await bench.run(['sync']);
    const command = /: (cp -p .* && mv .*)\.$/m.exec(stderr.replaceAll(/\s+/g, ' ').trim())?.[1] ?? 'false';
    execFileSync('sh', ['-c', command]);
    expect((await bench.run(['sync'])).code).toBe(0);
    expect(changesIn(bench.database)).toEqual([{ n: REPORTED }]);
  });

  it('that is mounted alone elsewhere is refused there', async ({ skip }) => {
    skip(process.getuid?.() !== 0, 'only root can mount a file');
    const { bench, worker } = await startWorker();
    const there = join(bench.folder, 'other', 'leagues.db');
    mkdirSync(dirname(there));
    writeFileSync(there, '');
    mountFile(there, bench.database);
    const other = addSettings(bench, { LEAGUE_SYNC_DATABASE: there });
    expect(await other.run(['sync'])).toMatchObject({ code: 74, stderr: expect.stringContaining('mount its folder') });
    expect(await other.run(['check'])).toMatchObject({ code: 1, stdout: expect.stringContaining('mount its folder') });
    expect((await worker.stop()).code).toBe(0);
  });
});

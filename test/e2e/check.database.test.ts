import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatSize } from '../../src/time/duration.ts';
import { remount, setUpDisk } from '../rigs/disk/small-disk.ts';
import { setUp, setUpSynced } from '../support/bench.ts';
import { runCheck, told, troubles } from '../support/check-command.ts';
import { mountDisk, NO_MOUNT } from '../support/copy-process.ts';
import { execute, holdForWriting, openConnection, readRows } from '../support/database.ts';
import { fingerprint } from '../support/folder.ts';
import { makeLeague } from '../support/leagues.ts';
import { openPort } from '../support/port.ts';

const NOT_ASKED = 'warn skipped';

/** Ways to make the database unusable. */
const SPOILT: readonly (readonly [string, (path: string) => void, string])[] = [
  ['of a newer version', (path) => execute(path, 'PRAGMA user_version = 99'), 'use that version'],
  ['whose pages are damaged', spoilPages, 'restore a backup, or rescue what is left'],
  ['that is damaged in a part that is not read', spoilDictionary, 'restore a backup, or rescue what is left'],
];

describe('check of a database', () => {
  it.each(SPOILT)('%s fails, names the fix and leaves it as it is', async (_, spoil, fix) => {
    const bench = await setUpSynced();
    spoil(bench.database);
    const [before, asked] = [fingerprint(bench.folder), bench.simulator.requests.length];
    const checked = await runCheck(bench);
    expect(troubles(checked)).toEqual(['fail database', NOT_ASKED]);
    expect(told(checked, 'database')).toContain(fix);
    expect(fingerprint(bench.folder)).toEqual(before);
    // A Retry-After of the service cannot be read.
    expect(bench.simulator.requests).toHaveLength(asked);
  });

  it('names a field in which alone nearly all changes differ, and the setting for it', async () => {
    const bench = await setUpSynced();
    const stamp = (value: number) =>
      `UPDATE leagues SET extra = '{"stamp":${value}}'; INSERT INTO league_changes (run_id, at, league_id, kind, before, after)
       SELECT 1, '2026-11-20T12:00:00.000Z', league_id, 'changed', '{"extra":{"stamp":${value - 1}}}', json_object('extra', json(extra)) FROM leagues`;
    for (let value = 1; value <= 7; value += 1) execute(bench.database, stamp(value));
    expect(troubles(await runCheck(bench))).toEqual([]);
    execute(bench.database, stamp(8));
    expect(told(await runCheck(bench), 'changes')).toMatch(
      /^warn 992 of the last 1000 changes differ in stamp alone.*LEAGUE_SYNC_QUIET_FIELDS=stamp/,
    );
    expect(troubles(await runCheck(bench, { LEAGUE_SYNC_QUIET_FIELDS: 'stamp' }))).toEqual([]);
  });

  it('names a trigger of another program that does not work, as a start does, and a view, which only it names', async () => {
    const bench = await setUpSynced();
    const { database } = bench;
    execute(database, "CREATE TRIGGER moon AFTER INSERT ON leagues BEGIN SELECT raise(ABORT, 'full moon'); END");
    expect(told(await runCheck(bench), 'database')).toMatch(
      /^ok .*; another program added the trigger moon on leagues/,
    );
    bench.simulator.setLeagues([...bench.simulator.leagues(), makeLeague('new')]);
    expect((await bench.run(['sync'])).stderr).toMatch(
      /full moon\); if another .* drop that; league-sync check names it/,
    );
    execute(database, 'DROP TRIGGER moon; CREATE TRIGGER good AFTER INSERT ON leagues BEGIN SELECT 1; END');
    execute(database, 'CREATE VIEW "the ""view" AS SELECT nope() AS n');
    expect(told(await runCheck(bench), 'database')).toMatch(/^warn the view the "view in .*no such function/);
    expect((await bench.run(['sync'])).code).toBe(0);
    execute(database, 'CREATE VIEW slow AS SELECT * FROM pragma_integrity_check');
    expect(await bench.run(['query', 'SELECT * FROM slow'])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('unsafe use of virtual table'),
    });
    execute(database, 'CREATE TRIGGER audit AFTER UPDATE OF status ON leagues BEGIN SELECT nope(); END');
    const fault = /the trigger (good or audit|audit or good) on leagues in .* does not work \(no such function: nope\)/;
    expect(told(await runCheck(bench), 'database')).toMatch(fault);
    const before = fingerprint(bench.folder);
    expect(await bench.run(['sync'])).toMatchObject({ code: 74, stderr: expect.stringMatching(fault) });
    expect(fingerprint(bench.folder)).toEqual(before);
  });

  it.each(['-journal', 'wal'])('that a reader would have to write to (%s) is not inspected', async (what) => {
    const bench = await setUpSynced();
    if (what === 'wal') markWal(bench.database);
    else writeFileSync(`${bench.database}-journal`, Buffer.alloc(512, 1));
    const before = fingerprint(bench.folder);
    const checked = await runCheck(bench, { LEAGUE_SYNC_PUBLISH: 'copy.db' });
    expect(troubles(checked)).toEqual(['warn database', NOT_ASKED, NOT_ASKED]);
    expect(told(checked, 'database')).toContain('start the worker, which recovers it');
    expect(fingerprint(bench.folder)).toEqual(before);
  });

  it('that another program has locked warns', async () => {
    const bench = await setUpSynced();
    holdForWriting(bench.database, 'EXCLUSIVE');
    const checked = await runCheck(bench);
    expect(troubles(checked)).toEqual(['warn database', NOT_ASKED]);
    expect(told(checked, 'database')).toContain('wait for that program, or end it');
  });
});

describe('check of the size of a database', () => {
  /** Writes while a reader prevents the WAL from restarting. */
  async function growLog(rows: number) {
    const bench = await setUpSynced();
    const db = openConnection(bench.database);
    db.pragma('journal_mode = WAL');
    db.pragma('wal_autocheckpoint = 0');
    db.exec(`CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT i FROM n;
      INSERT INTO logins (at, outcome, reason, error_message)
        SELECT '2026-11-20T12:00:00.000Z', 'failed', 'manual', hex(zeroblob(50000)) FROM n`);
    return { bench, size: statSync(bench.database).size + statSync(`${bench.database}-wal`).size };
  }

  it('includes the WAL in the size and names it if it is large', async () => {
    const { bench, size } = await growLog(20);
    const said = told(await runCheck(bench), 'database');
    expect(said).toMatch(
      new RegExp(`^ok .* passes SQLite's quick_check, ${formatSize(size)} \\(2\\S* MB of it in the write-ahead log\\)`),
    );
  });

  it('warns of a WAL that does not shrink', async () => {
    const { bench } = await growLog(700);
    const checked = await runCheck(bench);
    expect(troubles(checked)).toEqual(['warn database']);
    expect(told(checked, 'database')).toMatch(/another program keeps a read transaction open -> find that program/);
  });
});

describe('check of a disk', () => {
  it('fails if it is nearly full and warns if space is low', async ({ skip }) => {
    const full = await setUpDisk();
    if (full === undefined) return skip(NO_MOUNT);
    const checked = await runCheck(full);
    expect(troubles(checked)).toContain('fail disk');
    expect(told(checked, 'disk')).toContain(`-> free some space on the disk of ${full.disk}`);
    const bench = await setUp();
    const disk = mountDisk(join(bench.folder, 'disk'), 'size=100m') ?? '';
    const scarce = await runCheck(bench, { LEAGUE_SYNC_DATABASE: join(disk, 'leagues.db') });
    expect(troubles(scarce)).toEqual(['warn disk']);
  });

  it('that is read-only fails', async ({ skip }) => {
    const bench = await setUpDisk();
    if (bench === undefined) return skip(NO_MOUNT);
    await bench.run(['sync']);
    remount(bench, 'ro');
    const checked = await runCheck(bench);
    expect(troubles(checked)).toContain('fail disk');
    expect(told(checked, 'disk')).toContain('(EROFS) -> remount it read-write, or choose a path on another one');
  });
});

describe('check of the published copy, the status page and the heartbeat', () => {
  it('accepts a published copy and rejects another file at its path', async () => {
    const bench = await setUpSynced();
    const copy = join(bench.folder, 'copy.db');
    const env = { LEAGUE_SYNC_PUBLISH: copy };
    expect(told(await runCheck(bench, env), 'publish')).toContain('does not exist yet');
    await bench.run(['backup', copy]);
    expect(told(await runCheck(bench, env), 'publish')).toMatch(/is a copy, made (just now|\d+ s ago)/);
    writeFileSync(copy, 'keep this file');
    const checked = await runCheck(bench, env);
    expect(troubles(checked)).toEqual(['fail publish']);
    expect(told(checked, 'publish')).toContain('-> move it away, or choose another path');
  });

  it('connects to the heartbeat without a request, and warns if it is unreachable', async () => {
    const bench = await setUp();
    const heard: string[] = [];
    const { port } = await openPort(createServer((socket) => socket.on('data', (text) => heard.push(String(text)))));
    const secret = 'heartbeat-canary-4711';
    const well = await runCheck(bench, { LEAGUE_SYNC_HEARTBEAT_URL: `http://127.0.0.1:${port}/${secret}` });
    expect(troubles(well)).toEqual([]);
    const dead = await runCheck(bench, { LEAGUE_SYNC_HEARTBEAT_URL: `http://127.0.0.1:1/${secret}` });
    expect(troubles(dead)).toEqual(['warn heartbeat']);
    expect(told(dead, 'heartbeat')).toContain('check LEAGUE_SYNC_HEARTBEAT_URL');
    expect(JSON.stringify([well, dead])).not.toContain(secret);
    expect(heard).toEqual([]);
  });
});

/** Leaves the file in WAL mode without a WAL, as after another program closed it last. */
function markWal(path: string): void {
  execute(path, 'PRAGMA journal_mode = WAL');
}

function spoilPages(path: string): void {
  const bytes = readFileSync(path);
  writeFileSync(path, Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.length - 4_096, 0xa5)]));
}

/** Damages a table that polls do not read. */
function spoilDictionary(path: string): void {
  const [row] = readRows(path, "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'data_dictionary'");
  const page = Number(row?.page);
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xa5, (page - 1) * 4_096, page * 4_096));
}

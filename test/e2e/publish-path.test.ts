import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { APPLICATION_ID } from '../../src/store/database-file.ts';
import { mountDisk, mountFile, NO_MOUNT } from '../support/copy-process.ts';
import { execute, openConnection } from '../support/database.ts';
import { fingerprint } from '../support/folder.ts';
import { countLeagues, setUpPublishing } from '../support/publish-setup.ts';

const SAID =
  /^league-sync: the published copy could not be made: \S*copy\.db is not a copy of the database .*; move it away, or choose another path\.$/;

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

describe('what is not a copy of the database and in the way', () => {
  const makeOther = (file: string): void => execute(file, 'CREATE TABLE letters (letter TEXT)');
  const inTheWay: Readonly<Record<string, (file: string, database: string) => void>> = {
    'a database of another application': makeOther,
    'a text file': (file) => writeFileSync(file, 'Dear diary'),
    'a folder': (file) => mkdirSync(file),
    'a database with a view without end': (file) =>
      execute(
        file,
        `PRAGMA application_id = ${APPLICATION_ID};
        CREATE VIEW schema_migrations AS WITH RECURSIVE n(version) AS (SELECT 1 UNION ALL SELECT version + 1 FROM n)
          SELECT version, 'x' AS applied_at FROM n`,
      ),
    'a copy that another program is writing': (file, database) => {
      copyFileSync(database, file);
      const db = openConnection(file);
      db.pragma('journal_mode = WAL');
      db.exec(
        "INSERT INTO held_removals (league_id, first_run_id, held_since, accepted_at) VALUES ('x', 1, '2026-11-20T12:00:00.000Z', NULL)",
      );
    },
  };

  it.each(Object.entries(inTheWay))('%s is left as it is, which sync says, whose poll is good', async (_, make) => {
    const bench = await setUpPublishing();
    expect((await bench.run(['sync'], { LEAGUE_SYNC_PUBLISH: '' })).code).toBe(0);
    mkdirSync(bench.shared);
    make(bench.copy, bench.database);
    const before = fingerprint(bench.shared);
    bench.change();
    const { code, stderr } = await bench.run(['sync']);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/copy\.db is not a copy of the database .*leagues\.db.*move it away/),
    ]);
    expect(fingerprint(bench.shared)).toEqual(before);
    expect(countLeagues(bench.database)).toBe(2);
  });

  it('is the database of another league-sync, left as it is', async () => {
    const [bench, other] = [await setUpPublishing(), await setUpPublishing()];
    expect((await other.run(['sync'], { LEAGUE_SYNC_PUBLISH: '' })).code).toBe(0);
    const before = fingerprint(other.folder);
    const { code, stdout, stderr } = await bench.run(['sync'], { LEAGUE_SYNC_PUBLISH: other.database });
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 added')]);
    expect(stderr).toContain('is not a copy of the database');
    expect(fingerprint(other.folder)).toEqual(before);
  });

  it('is a link to the database, which stays the database, and sync exits 0', async () => {
    const bench = await setUpPublishing();
    expect((await bench.run(['sync'], { LEAGUE_SYNC_PUBLISH: '' })).code).toBe(0);
    const publish = join(bench.folder, 'link.db');
    symlinkSync(bench.database, publish);
    const { ino } = statSync(bench.database);
    bench.change();
    const { code, stderr } = await bench.run(['sync'], { LEAGUE_SYNC_PUBLISH: publish });
    expect([code, stderr]).toEqual([0, expect.stringContaining('is not a copy of the database')]);
    expect(statSync(publish).ino).toBe(ino);
    expect(lstatSync(bench.database)).toMatchObject({ ino });
    expect(countLeagues(bench.database)).toBe(2);
    expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db']);
    expect(readdirSync(dirname(publish)).filter((name) => /-(wal|shm|journal)$|part$/.test(name))).toEqual([]);
  });

  it('is a full disk, said in the same words each time, or a mount of the file alone', async ({ skip }) => {
    const bench = await setUpPublishing();
    if (mountDisk(bench.shared, 'size=64k') === undefined) return skip(NO_MOUNT);
    const [first, second] = [await bench.run(['sync']), await bench.run(['sync'])].map(({ stderr }) =>
      lastLine(stderr),
    );
    expect(first).toMatch(/: The copy shared\/copy\.db cannot grow: the disk is full .*; free some space\.$/);
    expect(second).toBe(first);
    const copy = join(bench.folder, 'copy.db');
    expect((await bench.run(['backup', copy])).code).toBe(0);
    mountFile(copy);
    expect((await bench.run(['sync'], { LEAGUE_SYNC_PUBLISH: copy })).stderr).toMatch(/; mount its folder instead/);
  });

  it('changes no exit code of sync, neither 3 for held removals nor 1 for a failure', async () => {
    const bench = await setUpPublishing();
    expect((await bench.run(['sync'], { LEAGUE_SYNC_PUBLISH: '' })).code).toBe(0);
    mkdirSync(bench.copy, { recursive: true });
    bench.simulator.setLeagues([]);
    const held = await bench.runProcess(['sync']);
    expect([held.code, lastLine(held.stderr)]).toEqual([3, expect.stringMatching(SAID)]);
    bench.simulator.setFault('not-json', true);
    const failed = await bench.runProcess(['sync']);
    expect([failed.code, lastLine(failed.stderr)]).toEqual([1, expect.stringContaining('The response to GET')]);
    expect(fingerprint(bench.shared)).toEqual({ 'copy.db': expect.any(String) });
  });

  it.each(['sync', 'profile'])(
    'is said by %s in its last line on stderr, and not before the result',
    async (command) => {
      const bench = await setUpPublishing();
      mkdirSync(bench.copy, { recursive: true });
      const { code, stdout, stderr } = await bench.run([command]);
      expect(code).toBe(0);
      expect(stdout).not.toBe('');
      expect(lastLine(stderr)).toMatch(SAID);
      rmSync(bench.copy, { recursive: true });
      bench.change();
      expect((await bench.run(['sync'])).stderr).toBe('');
    },
  );

  it('a copy in WAL mode that no program has open is replaced, or left as it is with nothing beside it', async () => {
    const bench = await setUpPublishing();
    expect((await bench.run(['sync'])).code).toBe(0);
    chmodSync(bench.copy, 0o600);
    execute(bench.copy, 'PRAGMA journal_mode = WAL');
    bench.change();
    expect((await bench.run(['sync'])).code).toBe(0);
    expect(readdirSync(bench.shared)).toEqual(['copy.db']);
  });

  it('the database is kept if it has the name of the temporary copy', async () => {
    const bench = await setUpPublishing();
    const database = join(bench.shared, 'copy.db.part');
    await bench.run(['sync'], { LEAGUE_SYNC_DATABASE: database });
    expect(countLeagues(database)).toBe(1);
  });
});

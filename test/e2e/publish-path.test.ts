import { lstatSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mountDisk, mountFile, NO_MOUNT } from '../support/copy-process.ts';
import { fingerprint } from '../support/folder.ts';
import { countLeagues, setUpPublishing } from '../support/publish-setup.ts';

const SAID =
  /^league-sync: the published copy could not be made: \S*copy\.db is not a copy of the database .*; move it away, or choose another path\.$/;

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

// test/integration/copy-origin.test.ts tells what a copy of the database is.
describe('what is not a copy of the database and in the way', () => {
  it('is left as it is, which sync says, whose poll is good', async () => {
    const bench = await setUpPublishing();
    mkdirSync(bench.shared);
    writeFileSync(bench.copy, 'Dear diary');
    const before = fingerprint(bench.shared);
    const { code, stdout, stderr } = await bench.run(['sync']);
    expect([code, stdout, stderr]).toEqual([
      0,
      expect.stringContaining('1 added'),
      expect.stringMatching(/copy\.db is not a copy of the database .*leagues\.db.*move it away/),
    ]);
    expect(fingerprint(bench.shared)).toEqual(before);
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
    expect([statSync(publish).ino, lstatSync(bench.database).ino]).toEqual([ino, ino]);
    expect(countLeagues(bench.database)).toBe(2);
    expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db']);
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
    const held = await bench.run(['sync']);
    expect([held.code, lastLine(held.stderr)]).toEqual([3, expect.stringMatching(SAID)]);
    bench.simulator.setFault('not-json', true);
    const failed = await bench.run(['sync']);
    expect([failed.code, lastLine(failed.stderr)]).toEqual([1, expect.stringContaining('The response to GET')]);
    expect(fingerprint(bench.shared)).toEqual({ 'copy.db': expect.any(String) });
  });

  it('is said by profile in its last line on stderr, and the next poll publishes', async () => {
    const bench = await setUpPublishing();
    mkdirSync(bench.copy, { recursive: true });
    const { code, stdout, stderr } = await bench.run(['profile']);
    expect([code, lastLine(stderr)]).toEqual([0, expect.stringMatching(SAID)]);
    expect(stdout).not.toBe('');
    rmSync(bench.copy, { recursive: true });
    expect((await bench.run(['sync'])).stderr).toBe('');
    expect(countLeagues(bench.copy)).toBe(1);
  });
});

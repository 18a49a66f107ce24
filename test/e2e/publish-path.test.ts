import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mountDisk, mountFile, NO_MOUNT } from '../support/copy-process.ts';
import { fingerprint } from '../support/folder.ts';
import { setUpPublishing } from '../support/publish-setup.ts';

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
});

import { truncateSync, writeFileSync } from 'node:fs';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createWalWatch } from '../../src/worker/wal-watch.ts';
import { makeFolder } from '../support/workplace.ts';

const MEGABYTE = 1_000_000;

it('a write-ahead log is told of when it goes on growing, when it has doubled, and when it is small again', () => {
  using folder = makeFolder();
  const path = folder.file('leagues.db');
  const lines: string[] = [];
  const watch = createWalWatch(path, pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) }));
  const after = (megabytes: number): string | undefined => {
    const before = lines.length;
    truncateSync(`${path}-wal`, megabytes * MEGABYTE);
    watch.look();
    return lines[before];
  };
  // Where there is none, nothing is wrong.
  watch.look();
  writeFileSync(`${path}-wal`, '');
  expect(after(63)).toBeUndefined();
  // As after one poll of very many leagues.
  expect(after(150)).toBeUndefined();
  expect(after(150)).toBeUndefined();
  expect(after(20)).toBeUndefined();
  expect(after(64)).toBeUndefined();
  expect(after(70)).toMatch(
    /^the write-ahead log leagues\.db-wal has grown to 70 MB: another program keeps a read transaction open/,
  );
  expect(after(139)).toBeUndefined();
  expect(after(140)).toMatch(/140 MB/);
  expect(after(4)).toBe('the write-ahead log leagues.db-wal is small again (4 MB)');
  expect(after(3)).toBeUndefined();
  expect(lines).toHaveLength(3);
});

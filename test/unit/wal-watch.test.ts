import { truncateSync, writeFileSync } from 'node:fs';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createWalWatch } from '../../src/worker/wal-watch.ts';
import { makeFolder } from '../support/folder.ts';
import { ended, makeReport } from '../support/run-report.ts';

const MEGABYTE = 1_000_000;

it('a WAL that keeps growing is logged, and again when it has doubled', () => {
  using folder = makeFolder();
  const path = folder.file('leagues.db');
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) });
  const watch = createWalWatch({ path }, log);
  const after = (megabytes: number): string | undefined => {
    const before = lines.length;
    truncateSync(`${path}-wal`, megabytes * MEGABYTE);
    watch(ended(makeReport()));
    return lines[before];
  };
  // A missing WAL is fine.
  watch(ended(makeReport()));
  writeFileSync(`${path}-wal`, '');
  expect(after(63)).toBeUndefined();
  // Like after one poll of very many leagues.
  expect(after(150)).toBeUndefined();
  expect(after(150)).toBeUndefined();
  expect(after(20)).toBeUndefined();
  expect(after(64)).toBeUndefined();
  expect(after(70)).toMatch(
    /^the write-ahead log leagues\.db-wal has grown to 70 MB: another program keeps a read transaction open/,
  );
  expect(after(139)).toBeUndefined();
  expect(after(140)).toMatch(/140 MB/);
  expect(after(4)).toBeUndefined();
  expect(lines).toHaveLength(2);
});

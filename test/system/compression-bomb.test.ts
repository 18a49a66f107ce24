import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { beforeEach, expect, it } from 'vitest';
import { setUpFor } from '../support/bench.ts';
import { type Kind, type Reply, startService } from '../support/service.ts';

const MEGABYTE = 1_000_000;
const BOMB_MB = 300;
const LARGEST_BOMB_BYTES = 400_000;
const MOST_MEMORY_BYTES = 400 * MEGABYTE;
const FAILURE = /larger than \d+ MB.*LEAGUE_SYNC_MAX_BODY/;

/** Generates JSON whitespace in chunks, so that the test needs little memory itself. */
function* blanks(megabytes: number): Generator<Buffer> {
  const block = Buffer.alloc(MEGABYTE, 0x20);
  for (let sent = 0; sent < megabytes; sent += 1) yield block;
}

async function bomb(): Promise<Reply> {
  const body = await buffer(Readable.from(blanks(BOMB_MB)).pipe(createGzip()));
  expect(body.length).toBeLessThan(LARGEST_BOMB_BYTES);
  return { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, body };
}

/** The peak resident memory of a process. */
function peakMemoryBytes(pid: number): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1_024;
}

beforeEach(({ skip }) => skip(process.platform !== 'linux', 'only Linux has /proc'));

// That a body is not read beyond the limit, packed or not, is in test/integration/http.test.ts.
it.each<Kind>(['leagues', 'login'])(
  '300 MB of %s in a small gzip end a poll with a failure that names the limit, and leave the worker small',
  async (kind) => {
    const service = await startService({ [kind]: await bomb() });
    const bench = setUpFor(service.url);
    const worker = bench.start(['run']);
    expect(String((await worker.waitForPoll('failed')).msg)).toMatch(FAILURE);
    // Read while the process is alive, so that its peak is included.
    expect(peakMemoryBytes(worker.pid)).toBeLessThan(MOST_MEMORY_BYTES);
    expect((await worker.stop()).code).toBe(0);
    expect(service.seen(kind)).toHaveLength(1);
    expect(bench.rows('SELECT outcome, error_kind FROM runs')).toEqual([{ outcome: 'failed', error_kind: 'contract' }]);
  },
);

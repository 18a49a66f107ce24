import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { setUpFor } from '../support/bench.ts';
import { type Kind, type Reply, startService } from '../support/service.ts';

const MEGABYTE = 1_000_000;
const BOMB_MB = 300;
/** Over the default limit of 64 MB. */
const PLAIN_MB = 70;
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

async function flood(): Promise<Reply> {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    Readable.from(blanks(PLAIN_MB)).pipe(response);
  };
}

/** The peak resident memory of a process. */
function peakMemoryBytes(pid: number): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1_024;
}

describe.each<[string, Kind, () => Promise<Reply>]>([
  ['300 MB of leagues in a small gzip', 'leagues', bomb],
  ['300 MB of a login in a small gzip', 'login', bomb],
  ['70 MB of leagues as they are', 'leagues', flood],
  ['70 MB of a login as they are', 'login', flood],
])('%s', (_what, kind, make) => {
  it('end a sync with a failure that names the limit, after one request', async () => {
    const service = await startService({ [kind]: await make() });
    const bench = setUpFor(service.url);
    const { code, stderr } = await bench.runProcess(['sync']);
    expect(code).toBe(1);
    expect(stderr).toMatch(FAILURE);
    expect(service.seen(kind)).toHaveLength(1);
    expect(bench.rows('SELECT outcome, error_kind FROM runs')).toEqual([{ outcome: 'failed', error_kind: 'contract' }]);
  });

  it.skipIf(process.platform !== 'linux')('leave a worker alive, and small', async () => {
    const service = await startService({ [kind]: await make() });
    const worker = setUpFor(service.url).start(['run']);
    expect(String((await worker.waitForPoll('failed')).msg)).toMatch(FAILURE);
    // Read while the process is alive, so that its peak is included.
    expect(peakMemoryBytes(worker.pid)).toBeLessThan(MOST_MEMORY_BYTES);
    expect((await worker.stop()).code).toBe(0);
  });
});

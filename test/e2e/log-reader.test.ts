import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readdirSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EVERY_SECOND, leagueRequests, makeFolder, setUp } from '../support/bench.ts';
import { eventually } from '../support/program.ts';

/** What the contract allows a stop to take. */
const LONGEST_STOP_MS = 10_000;
const BLOCK = Buffer.alloc(4_096);

function makeFifo(): string {
  const path = join(makeFolder(), 'fifo');
  execFileSync('mkfifo', [path]);
  return path;
}

function openUntilEnd(path: string, flags: number): number {
  const fd = openSync(path, flags);
  onTestFinished(() => closeSync(fd));
  return fd;
}

/** A file descriptor of a FIFO that is full, so that whoever writes there waits for a reader that never comes. */
function openFullFifo(): number {
  const path = makeFifo();
  // Two descriptions of one FIFO: the program's own must not inherit that the other one does not block.
  const stuffed = openUntilEnd(path, constants.O_RDWR | constants.O_NONBLOCK);
  const full = openUntilEnd(path, constants.O_RDWR);
  for (let room = true; room; ) room = writeBlock(stuffed);
  return full;
}

function writeBlock(fd: number): boolean {
  try {
    return writeSync(fd, BLOCK) > 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return false;
    throw error;
  }
}

describe.each(['json', 'pretty'])('a worker that logs %s', (format) => {
  const settings = { LEAGUE_SYNC_LOG_FORMAT: format, LEAGUE_SYNC_SCHEDULE: EVERY_SECOND };

  it('to a FIFO that nobody reads keeps polling, and ends in time when it is stopped', async () => {
    const bench = await setUp();
    const worker = bench.start(['run'], settings, { stdout: openFullFifo() });
    await eventually('it has polled some times', () => leagueRequests(bench.simulator).length >= 3);
    const askedAt = performance.now();
    expect(await worker.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(performance.now() - askedAt).toBeLessThan(LONGEST_STOP_MS);
    expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db']);
  });

  it('to a reader that goes away keeps polling, and ends well when it is stopped', async () => {
    const bench = await setUp();
    const path = makeFifo();
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const worker = bench.start(['run'], settings, { stdout: openUntilEnd(path, constants.O_WRONLY) });
    await eventually('it has polled', () => leagueRequests(bench.simulator).length >= 1);
    closeSync(reader);
    await eventually('it has polled more often', () => leagueRequests(bench.simulator).length >= 4);
    expect(await worker.stop()).toMatchObject({ code: 0, stderr: '' });
  });
});

import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createRandom, pickIndex, type Random } from '../../../src/simulator/churn.ts';
import { ENDLESS, HUGE } from '../../postgres/postgres.ts';
import { setUp } from '../../support/bench.ts';
import { unlessAll } from '../../support/extent.ts';
import { openPort, type Port } from '../../support/port.ts';
import type { RunningProgram } from '../../support/program.ts';
import { serve } from '../../support/status-server.ts';

const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
const CONNECTIONS = unlessAll(40, 2_000);

/** What a PostgreSQL server may send: types of messages, and what they begin with. */
const FRAGMENTS = [
  'R\0\0\0\b\0\0\0\0',
  'R\0\0\0\b\0\0\0\x03',
  'R\0\0\0\x17\0\0\0\nSCRAM-SHA-256\0\0',
  'R\0\0\0\f\0\0\0\x05salt',
  'S\0\0\0\x19client_encoding\0UTF8\0',
  'K\0\0\0\f\0\0\0\x01\0\0\0\x02',
  'Z\0\0\0\x05I',
  '1\0\0\0\x04',
  '2\0\0\0\x04',
  'n\0\0\0\x04',
  'T\0\0\0\x1a\0\x01a\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0',
  'D\0\0\0\x0b\0\x01\0\0\0\x011',
  'C\0\0\0\rSELECT 1\0',
  'E\0\0\0\x15SERROR\0C42000\0Mno\0\0',
  'N\0\0\0\x0cSNOTICE\0\0',
  'G\0\0\0\x07\0\0\0',
  'A\0\0\0\x0c\0\0\0\x01a\0b\0',
];
/** One connection in so many is answered with each of these; the first costs 15 s. */
const KILLERS = [
  [unlessAll(40, 200), ENDLESS],
  [20, HUGE],
] as const;

/** Fragments in random order, some of whose bytes are changed. */
function garbage(random: Random): Buffer {
  const parts = Array.from({ length: 1 + pickIndex(8, random) }, () => FRAGMENTS[pickIndex(FRAGMENTS.length, random)]);
  const bytes = Buffer.from(parts.join(''), 'latin1');
  for (let flips = pickIndex(4, random); flips > 0; flips -= 1)
    bytes[pickIndex(bytes.length, random)] = pickIndex(256, random);
  return bytes;
}

function openFuzzer(random: Random): Promise<Port> {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    const killer = KILLERS.find(([every]) => count % every === 0)?.[1];
    socket.on('data', () => socket.write(killer === undefined ? garbage(random) : Buffer.from(killer, 'latin1')));
    // A client that waits for more would wait for its time limit.
    if (killer === undefined) setTimeout(() => socket.destroy(), 50 + pickIndex(100, random));
  });
  return openPort(server);
}

/** Asks for /livez all the time; the longest time that an answer took, in ms. */
function watchLife(url: string) {
  const stop = new AbortController();
  let longest = 0;
  const watching = (async () => {
    while (!stop.signal.aborted) {
      const begun = performance.now();
      await (await fetch(`${url}/livez`)).text();
      longest = Math.max(longest, performance.now() - begun);
      await wait(20);
    }
  })();
  return async (): Promise<number> => {
    stop.abort();
    await watching;
    return Math.round(longest);
  };
}

function peakMb({ pid }: RunningProgram): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1_000);
}

it(`a worker polls and stops through ${CONNECTIONS} connections with any answers (TEST_SEED=${SEED})`, async () => {
  await using fuzzer = await openFuzzer(createRandom(SEED));
  const run = async (env: Readonly<Record<string, string>>, rounds: number) => {
    const { bench, worker, url } = await serve(await setUp(), env);
    await worker.waitForPoll('changed');
    const endWatch = watchLife(url);
    for (let round = 1; round <= rounds; round += 1) {
      await worker.pollNow('unchanged');
      // An attempt that has not ended is not repeated.
      while ('LEAGUE_SYNC_POSTGRES_URL' in env && fuzzer.connections() < round) {
        await wait(100);
        worker.send('SIGHUP');
      }
    }
    const [longestMs, peak, polls] = [await endWatch(), peakMb(worker), bench.rows('SELECT id FROM runs').length];
    const begun = performance.now();
    expect((await worker.stop()).code).toBe(0);
    return { longestMs, peak, polls, stopMs: Math.round(performance.now() - begun), bench };
  };
  const url = `postgresql://somebody:fake-password@127.0.0.1:${fuzzer.port}/x?sslmode=disable`;
  const { bench, ...fuzzed } = await run({ LEAGUE_SYNC_POSTGRES_URL: url }, CONNECTIONS);
  // A worker grows with its first thousands of polls.
  const { bench: _, ...without } = await run({}, fuzzed.polls);
  console.info(JSON.stringify({ connections: fuzzer.connections(), without, fuzzed }));
  expect(fuzzed.peak).toBeLessThan(without.peak + 60);
  expect(fuzzed.longestMs).toBeLessThan(1_000);
  expect(bench.rows("SELECT id FROM runs WHERE outcome = 'failed'")).toEqual([]);
  const [output] = bench.rows('SELECT * FROM outputs');
  expect(output).toMatchObject({ name: 'mirror', seq: null, done_at: null, last_error: expect.any(String) });
});

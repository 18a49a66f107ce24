import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { OUTSIDERS } from '../support/read-only-client.ts';

const RESTARTS = 5;
/** Time for the other reader to start reading. */
const READING_MS = 50;
const ALL = [{ n: 124 }];
const COUNT = 'SELECT count(*) AS n FROM leagues';

describe.each(OUTSIDERS)('a reader $who', (outsider) => {
  it('can read after every stop, though another reader comes and goes at that very moment', async ({ skip }) => {
    const bench = await setUp();
    const data = dirname(bench.database);
    mkdirSync(data);
    for (const folder of [bench.folder, data]) chmodSync(folder, 0o755);
    const reason = outsider.missing(data);
    skip(reason !== undefined, reason);
    expect((await bench.run(['sync'])).code).toBe(0);
    for (let restart = 1; restart <= RESTARTS; restart += 1) {
      const worker = bench.start(['run']);
      await worker.waitForLog((line) => String(line.msg).startsWith('worker started'));
      const endReading = outsider.readOverAndOver(bench.database, COUNT);
      await sleep(READING_MS);
      expect((await worker.stop()).code).toBe(0);
      await endReading();
      expect(await outsider.ask(bench.database, COUNT)).toEqual(ALL);
    }
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Bench, PASSWORD, setUp, USERNAME } from '../support/bench.ts';
import type { Environment } from '../support/program.ts';
import { spellingsOf } from '../support/secret-encodings.ts';

const SECRETS = [PASSWORD, `${USERNAME}:${PASSWORD}`].flatMap((secret) => [...spellingsOf(secret)]);

/** Where the password is configured, besides `.env`; each returns the settings for it. */
const PLACES: readonly (readonly [string, (bench: Bench) => Environment])[] = [
  ['the environment', () => ({})],
  ['a file', writeSecretFile],
];

function writeSecretFile({ folder }: Bench): Environment {
  writeFileSync(join(folder, 'password'), `${PASSWORD}\n`);
  return { LEAGUE_SYNC_PASSWORD: '', LEAGUE_SYNC_PASSWORD_FILE: 'password' };
}

function expectDiscreet(told: string): void {
  expect(told).not.toBe('');
  expect(SECRETS.filter((secret) => told.includes(secret))).toEqual([]);
}

function readProcess(pid: number, what: 'cmdline' | 'environ'): string {
  return readFileSync(`/proc/${pid}/${what}`, 'latin1');
}

describe('other programs of the same user', () => {
  beforeEach(({ skip }) => skip(process.platform !== 'linux', 'only Linux has /proc'));

  it.each(PLACES)(
    'see no secret of a worker in its command line, its lock, and if it has a file, its environment: %s',
    async (where, give) => {
      const bench = await setUp();
      const worker = bench.start(['run'], give(bench));
      await worker.waitForPoll('changed');
      expectDiscreet(readProcess(worker.pid, 'cmdline'));
      expectDiscreet(readFileSync(`${bench.database}.lock`, 'latin1'));
      if (where === 'a file') expectDiscreet(readProcess(worker.pid, 'environ'));
      expect((await worker.stop()).code).toBe(0);
    },
  );
});

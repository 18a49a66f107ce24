import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countLogins, PASSWORD, setUp, setUpFor } from '../support/bench.ts';
import { makeLeague } from '../support/leagues.ts';
import { eventually } from '../support/program.ts';
import { grantLogin, listLeagues, type Seen, startService } from '../support/service.ts';

describe('a secret file', () => {
  it('is re-read at every login', async () => {
    const service = await startService({
      login: () => grantLogin({ expire_datetime: new Date(Date.now() + 3_000).toISOString() }),
      leagues: listLeagues([makeLeague('a')]),
    });
    const bench = setUpFor(service.url);
    const file = join(bench.folder, 'password');
    writeFileSync(file, 'first-password\nnot the secret\n');
    const worker = bench.start(['run'], { LEAGUE_SYNC_PASSWORD: '', LEAGUE_SYNC_PASSWORD_FILE: file });
    await worker.waitForPoll('changed');
    replaceFile(file, 'second-password\n');
    const seen = await eventually('the second password is used', () => {
      const pairs = service.seen('login').map(pairOf);
      return pairs.includes('player:second-password') && pairs;
    });
    expect(seen[0]).toBe('player:first-password');
    expect(seen.at(-1)).toBe('player:second-password');
  });

  it('ends the wait after a refusal as soon as it changes, and a poll follows', async () => {
    const bench = await setUp();
    const file = join(bench.folder, 'password');
    writeFileSync(file, 'wrong-password\n');
    const worker = bench.start(['run'], { LEAGUE_SYNC_PASSWORD: '', LEAGUE_SYNC_PASSWORD_FILE: file });
    await worker.waitForPoll('failed');
    replaceFile(file, `${PASSWORD}\n`);
    await worker.waitForPoll('changed');
    expect(countLogins(bench.simulator)).toBe(2);
  });
});

function pairOf({ authorization }: Seen): string {
  return Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
}

/** As secret managers do it: never half a file. */
function replaceFile(path: string, content: string): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { addSettings, setUpFor } from '../support/bench.ts';
import { makeLaterVersion } from '../support/later-version.ts';
import { makeLeague } from '../support/leagues.ts';
import { eventually } from '../support/program.ts';
import { listLeagues, startService } from '../support/service.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

it.each(['replaced', 'removed'])(
  'a worker whose program was %s polls, answers and delivers as before, and says what the copy needs',
  async (fate) => {
    const [service, receiver] = [await startService(), await startReceiver()];
    const settings = { ...receiver.env, LEAGUE_SYNC_LISTEN: '127.0.0.1:0', LEAGUE_SYNC_PUBLISH: 'copy.db' };
    const bench = addSettings(setUpFor(service.url), settings);
    const through = makeLaterVersion('SELECT 1;');
    const folder = dirname(dirname(through.at(-1) ?? ''));
    const worker = bench.start(['run'], {}, { through });
    const { url } = await worker.waitForLog(({ msg }) => /^status page/.test(String(msg)));
    await worker.waitForPoll();
    await eventually('the first copy is made', () => existsSync(join(bench.folder, 'copy.db')));
    const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
    rmSync(folder, { recursive: true });
    // Half of another version, as an upgrade leaves it for a moment.
    if (fate === 'replaced') {
      mkdirSync(folder);
      writeFileSync(join(folder, 'package.json'), manifest.replace(/"version": "[^"]+"/, '"version": "9.9.9"'));
    }
    service.script('leagues', listLeagues([makeLeague('l1')]));
    await worker.pollNow('changed');
    const findFault = () => worker.log().find(({ output, level }) => output === 'copy' && level === 40);
    await eventually('the copy fails', () => findFault() !== undefined);
    expect(findFault()?.err).toMatchObject({
      message: expect.stringMatching(/copies the database failed .*; restart league-sync if .* replaced or removed/),
    });
    await eventually('the change is delivered', () => receiver.told().includes('leagues.changed 1-1'));
    for (const page of ['/', '/changes', '/league?id=l1', '/status.json', '/metrics'])
      expect((await fetch(`${url}${page}`)).status, page).toBe(200);
    const agents = new Set(service.requests.map(({ headers }) => headers['user-agent']));
    expect([...agents]).toEqual([expect.stringMatching(/^league-sync\/(?!9)/)]);
    expect((await worker.stop()).code).toBe(0);
  },
);

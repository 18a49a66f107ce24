import { renameSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { DEMO_SECRET } from '../../src/simulator/receiver.ts';
import { setUp } from '../support/bench.ts';
import {
  expectAccessible,
  expectFits,
  LOOKS,
  type Look,
  NO_BROWSER,
  openTab,
  takePicture,
} from '../support/browser.ts';
import { makeLeagues } from '../support/leagues.ts';
import { eventually } from '../support/program.ts';
import { serve, serveLeagues, waitForReadiness } from '../support/status-server.ts';

const PATHS = ['/', '/leagues', '/changes'];

beforeEach(({ skip }) => skip(NO_BROWSER !== undefined, NO_BROWSER));

/** Each of these brings a worker into a state, and resolves with the address of its page. */
const STATES: Readonly<Record<string, () => Promise<string>>> = {
  'troubled by held removals, rejections and drift': async () => {
    const { worker, simulator, url } = await serveReal();
    for (const name of ['drop-third', 'bad-rows', 'new-field'] as const) simulator.setFault(name, true);
    worker.send('SIGHUP');
    await worker.waitForPoll('held');
    return url;
  },
  'stale because the service fails': async () => {
    const { worker, simulator, url } = await serveReal({
      LEAGUE_SYNC_STALE_AFTER: '1s',
      LEAGUE_SYNC_RUN_TIMEOUT: '3s',
    });
    simulator.setFault('down', true);
    worker.send('SIGHUP');
    await worker.waitForPoll('failed');
    await waitForReadiness(url, ['stale']);
    return url;
  },
  'refused by the service': async () => {
    const { worker, simulator, url } = await serveReal();
    simulator.setFault('login-refused', true);
    simulator.setFault('revoke-tokens', true);
    worker.send('SIGHUP');
    await worker.waitForPoll('failed');
    return url;
  },
  'without its database': async () => {
    const { bench, url } = await serveReal();
    renameSync(bench.database, `${bench.database}.away`);
    await waitForReadiness(url, ['database']);
    return url;
  },
  'in its first poll': async () => (await serve(await setUp({ faults: ['hang'] }))).url,
  'without a webhook and a mirror that work': async () => {
    const { simulator } = await setUp({ faults: ['webhook-500'] });
    const { url, worker } = await serveReal({
      LEAGUE_SYNC_WEBHOOK_URL: `${simulator.url}/_webhooks`,
      LEAGUE_SYNC_WEBHOOK_SECRET: DEMO_SECRET,
      LEAGUE_SYNC_POSTGRES_URL: 'postgres://mirror:a-secret-word@127.0.0.1:9/leagues',
    });
    const hasFailed = (what: RegExp): boolean => worker.log().some(({ msg }) => what.test(String(msg)));
    await eventually(
      'both fail',
      () => hasFailed(/^the webhook at .* failed/) && hasFailed(/^The mirror at .* cannot/),
    );
    return url;
  },
  'without leagues': async () => (await serveLeagues([])).url,
  'with 20,000 leagues': async () => (await serveLeagues(makeLeagues(20_000))).url,
};

async function serveReal(env: Readonly<Record<string, string>> = {}) {
  const bench = await setUp();
  const served = await serve(bench, env);
  await served.worker.waitForPoll('changed');
  return { ...served, simulator: bench.simulator };
}

describe('every page of a worker', () => {
  it.each(Object.entries(STATES))('%s fits and is accessible', async (name, enter) => {
    const url = await enter();
    for (const look of Object.keys(LOOKS) as readonly Look[]) {
      const { page } = await openTab(url, LOOKS[look]);
      // The other pages show little of the state, and page.test.ts has their looks.
      for (const path of look === 'light' ? PATHS : ['/']) {
        await page.goto(path);
        expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
        await expectFits(page);
        await expectAccessible(page);
      }
      await page.goto('/');
      await takePicture(page, `home-${name.replaceAll(/\W+/g, '-')}-${look}`);
    }
  });
});

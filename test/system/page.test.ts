import { renameSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { DEMO_SECRET } from '../../src/simulator/receiver.ts';
import { setUp, setUpFor } from '../support/bench.ts';
import {
  expectAccessible,
  expectFits,
  LOOKS,
  type Look,
  NO_BROWSER,
  openTab,
  takePicture,
} from '../support/browser.ts';
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { type Environment, eventually } from '../support/program.ts';
import { listLeagues, startService } from '../support/service.ts';
import { serve, waitForReadiness } from '../support/status-server.ts';

const PATHS = ['/', '/leagues', '/changes'];
const HOSTILE: readonly (readonly [id: string, name: string])[] = [
  ['script', "<script>alert('x')</script>"],
  ['image', '"><img src=x onerror=alert(1)>'],
  ['quotes', `O'Brien & "Sons"`],
  ['right-to-left', '\u202Eدوري المحترفين\u202C'],
  ['long', 'long '.repeat(40_000)],
  ['../../etc/passwd?x=1#y', 'an id that is a path'],
  ['<b>bold</b>', 'an id that is markup'],
  ['empty', ''],
];

beforeEach(({ skip }) => skip(NO_BROWSER !== undefined, NO_BROWSER));

/** A worker with the real leagues, and a function that polls with these faults. */
async function serveReal(env: Environment = {}) {
  const { simulator, ...bench } = await setUp();
  const served = await serve(bench, env);
  await served.worker.waitForPoll('changed');
  const poll = async (outcome: string, ...faults: readonly string[]) => {
    for (const fault of faults) simulator.setFault(fault, true);
    served.worker.send('SIGHUP');
    await served.worker.waitForPoll(outcome);
    for (const fault of faults) simulator.setFault(fault, false);
  };
  return { ...served, simulator, poll };
}

async function serveLeagues(leagues: readonly Readonly<Record<string, unknown>>[]): Promise<string> {
  const service = await startService({ leagues: listLeagues(leagues) });
  const { url, worker } = await serve(setUpFor(service.url));
  await worker.waitForPoll();
  return url;
}

function serveHostile(): Promise<string> {
  return serveLeagues(HOSTILE.map(([id, name]) => makeLeague(id, { league_name: name, sport: name.slice(0, 300) })));
}

/** Each of these brings a worker into a state, and resolves with the address of its page. */
const STATES: Readonly<Record<string, () => Promise<string>>> = {
  'up to date': async () => (await serveReal()).url,
  'troubled by held removals, rejections and drift': async () => {
    const { url, poll } = await serveReal();
    await poll('held', 'drop-third', 'bad-rows', 'new-field');
    return url;
  },
  'stale because the service fails': async () => {
    const { url, poll } = await serveReal({ LEAGUE_SYNC_STALE_AFTER: '1s' });
    await poll('failed', 'not-json');
    await waitForReadiness(url, ['stale']);
    return url;
  },
  'refused by the service': async () => {
    const { url, poll } = await serveReal();
    await poll('failed', 'login-refused', 'revoke-tokens');
    return url;
  },
  'without its database': async () => {
    const { bench, url } = await serveReal();
    renameSync(bench.database, `${bench.database}.away`);
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
  'without leagues': () => serveLeagues([]),
  'with 20,000 leagues': () => serveLeagues(makeLeagues(20_000)),
  'with hostile names': serveHostile,
};

describe('every page of a worker', () => {
  it.each(Object.entries(STATES))('%s fits, is accessible and asks nobody else', async (name, enter) => {
    const url = await enter();
    for (const look of Object.keys(LOOKS) as readonly Look[]) {
      const { page, expectQuiet } = await openTab(url, LOOKS[look]);
      let isWhole = true;
      // On the other pages, only names and lists can be too wide.
      for (const path of look === 'light' || /hostile|date/.test(name) ? PATHS : ['/']) {
        const answer = await page.goto(path);
        expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
        await expectFits(page);
        await expectAccessible(page);
        await takePicture(page, `${path.slice(1) || 'home'}-${name.replaceAll(/\W+/g, '-')}-${look}`);
        isWhole &&= answer?.status() === 200;
      }
      // A browser complains of an answer with status 503.
      if (isWhole) expectQuiet();
    }
  });

  it('shows hostile names as plain text', async () => {
    const { page, expectQuiet } = await openTab(await serveHostile(), LOOKS.phone);
    for (const [id, name] of HOSTILE) {
      await page.goto(`/league?${new URLSearchParams({ id })}`);
      const title = await page.getByRole('heading', { level: 1 }).textContent();
      expect(title?.startsWith((name || id).slice(0, 1_000))).toBe(true);
      await expectFits(page);
    }
    await page.goto('/leagues');
    for (const [, name] of HOSTILE.filter(([id]) => id !== 'long' && id !== 'empty'))
      expect(await page.getByRole('link', { name: name.replace(/[\u202E\u202C]/g, '') }).count()).toBeGreaterThan(0);
    for (const path of ['/changes?poll=1&kind=added', `/leagues?q=${encodeURIComponent('"><b>')}`]) {
      await page.goto(path);
      await expectFits(page);
      await expectAccessible(page);
    }
    expectQuiet();
  });

  it('draws the newest poll at the end of the axis, on a phone as well', async () => {
    const { url } = await serveReal({ LEAGUE_SYNC_SCHEDULE: '0 0 1 1 *' });
    for (const look of [LOOKS.light, LOOKS.phone]) {
      const { page } = await openTab(url, look);
      await page.goto('/');
      const chart = await page.locator('svg.polls').boundingBox();
      const bar = await page.locator('svg.polls > g rect.changed').boundingBox();
      const card = await page.getByRole('region', { name: 'Polls' }).boundingBox();
      if (chart === null || bar === null || card === null) throw new Error('nothing is drawn');
      expect(Math.abs(chart.x + chart.width - bar.x - bar.width)).toBeLessThan(15);
      // The chart is wider than a phone, and begins at its end.
      expect(bar.x + bar.width).toBeLessThan(card.x + card.width);
    }
  });
});

/** A worker whose polls had every outcome: changed, unchanged, failed, and at last held. */
async function serveEveryOutcome() {
  const served = await serveReal();
  await served.poll('unchanged');
  await served.poll('failed', 'not-json');
  await served.poll('held', 'drop-third');
  return served;
}

/** What can be seen of the state without colours. */
async function bannerOf(page: Page) {
  expect(await page.evaluate(`document.querySelector('#state img').naturalWidth`)).toBeGreaterThan(0);
  return {
    icon: await page.locator('#state img').getAttribute('src'),
    headline: await page.getByRole('heading', { level: 1 }).textContent(),
    ground: await page.evaluate(`getComputedStyle(document.getElementById('state')).backgroundColor`),
  };
}

/** What each time shows on paper; undefined if it shows its words. */
const PRINTED_TIMES = `[...document.querySelectorAll('time')].filter((time) => time.checkVisibility()).map((time) =>
  getComputedStyle(time).fontSize === '0px' ? getComputedStyle(time, '::after').content : undefined)`;
const GROUNDS = `[...document.querySelectorAll('body, section')].map((part) => getComputedStyle(part).backgroundColor)`;

/** What is left of these bars without their colours, such as `hatched, 18`. */
const shapesOf = (selector: string) => `[...document.querySelectorAll('${selector}')].map((bar) => {
  const { fill } = getComputedStyle(bar);
  const filling = fill.startsWith('url') ? 'hatched' : fill === 'none' ? 'outline' : 'full';
  return filling + ', ' + Math.round(bar.getBoundingClientRect().height);
})`;

describe('the page in other media', () => {
  it('is dark on white on paper, and shows when things happened, even if the screen is dark', async () => {
    const { url } = await serveEveryOutcome();
    const { page, expectQuiet } = await openTab(url, { ...LOOKS.dark, viewport: { width: 760, height: 1_000 } });
    for (const path of PATHS) {
      await page.goto(path);
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      const times = (await page.evaluate(PRINTED_TIMES)) as readonly unknown[];
      expect(times.length).toBeGreaterThan(0);
      for (const time of times) expect(time).toMatch(/^"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"$/);
      expect(await page.locator('form:visible').count()).toBe(0);
      const grounds = (await page.evaluate(GROUNDS)) as readonly string[];
      expect([...new Set(grounds)]).toEqual(['rgb(255, 255, 255)']);
      await expectFits(page);
      await expectAccessible(page);
      await takePicture(page, `${path.slice(1) || 'home'}-print`);
    }
    expectQuiet();
  });

  it('tells states and outcomes apart by icon, words and shapes, without colours', async () => {
    const { url, poll } = await serveEveryOutcome();
    const { page, expectQuiet } = await openTab(url, { ...LOOKS.light, forcedColors: 'active' });
    await page.goto('/');
    const held = await bannerOf(page);
    await takePicture(page, 'home-forced-held');
    await poll('unchanged');
    await page.reload();
    const good = await bannerOf(page);
    expect(good.ground).toBe(held.ground);
    expect([good.icon, good.headline]).toEqual(['icon-good.svg', 'Up to date']);
    expect([held.icon, held.headline]).toEqual(['icon-warning.svg', 'Up to date, but 41 removals are held']);
    const coloured = await openTab(url);
    await coloured.page.goto('/');
    for (const bars of ['svg.polls > g > rect:last-child', '.key.end:not(.heat) rect']) {
      const shapes = (await coloured.page.evaluate(shapesOf(bars))) as readonly string[];
      expect([...new Set(shapes)]).toHaveLength(4);
    }
    expectQuiet();
  });
});

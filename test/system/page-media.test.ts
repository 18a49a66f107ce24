import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { expectAccessible, expectFits, LOOKS, NO_BROWSER, openTab, takePicture } from '../support/browser.ts';
import { serve } from '../support/status-server.ts';

const DEFICIENCIES = ['deuteranopia', 'protanopia', 'tritanopia', 'achromatopsia'] as const;

beforeEach(({ skip }) => skip(NO_BROWSER !== undefined, NO_BROWSER));

/** A worker whose polls had every outcome: changed, unchanged, failed, and at last held. */
async function serveEveryOutcome() {
  const bench = await setUp();
  const served = await serve(bench, { LEAGUE_SYNC_RUN_TIMEOUT: '3s' });
  const { worker } = served;
  const poll = (outcome: string) => {
    worker.send('SIGHUP');
    return worker.waitForPoll(outcome);
  };
  await worker.waitForPoll('changed');
  await poll('unchanged');
  bench.simulator.setFault('down', true);
  await poll('failed');
  bench.simulator.setFault('down', false);
  bench.simulator.setFault('drop-third', true);
  await poll('held');
  return { ...served, simulator: bench.simulator, poll };
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

describe('the printed page', () => {
  it('is dark on white, and shows when things happened, even if the screen is dark', async () => {
    const { url } = await serveEveryOutcome();
    const { page, expectQuiet } = await openTab(url, { ...LOOKS.dark, viewport: { width: 760, height: 1_000 } });
    for (const path of ['/', '/changes', '/leagues']) {
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
    }
    await page.goto('/');
    await takePicture(page, 'home-print');
    expectQuiet();
  });
});

describe('the page in forced colours', () => {
  it('tells a good state from a bad one by icon and words', async () => {
    const { url, simulator, poll } = await serveEveryOutcome();
    const { page, expectQuiet } = await openTab(url, { ...LOOKS.light, forcedColors: 'active' });
    await page.goto('/');
    const held = await bannerOf(page);
    await takePicture(page, 'home-forced-held');
    simulator.setFault('drop-third', false);
    await poll('unchanged');
    await page.reload();
    const good = await bannerOf(page);
    expect(good.ground).toBe(held.ground);
    expect([good.icon, good.headline]).toEqual(['icon-good.svg', 'Up to date']);
    expect([held.icon, held.headline]).toEqual(['icon-warning.svg', 'Up to date, but 41 removals are held']);
    expectQuiet();
  });
});

describe('people who see no colours', () => {
  it('can tell the outcomes of polls apart, in the chart and in its key', async () => {
    const { url } = await serveEveryOutcome();
    const { page, expectQuiet } = await openTab(url);
    await page.goto('/');
    for (const bars of ['svg.polls > g > rect:last-child', '.key.end:not(.heat) rect']) {
      const shapes = (await page.evaluate(shapesOf(bars))) as readonly string[];
      expect(shapes).toHaveLength(4);
      expect([...new Set(shapes)]).toEqual(shapes);
    }
    const session = await page.context().newCDPSession(page);
    for (const type of DEFICIENCIES) {
      await session.send('Emulation.setEmulatedVisionDeficiency', { type });
      await takePicture(page, `home-${type}`);
    }
    expectQuiet();
  });
});

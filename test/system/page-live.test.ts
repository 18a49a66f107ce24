import { renameSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { serve } from '../support/status-server.ts';
import { expectAccessible, expectFits, LOOKS, type Look, NO_BROWSER, openTab, takePicture } from './browser.ts';

const SECOND = 1_000;
/** The page reloads itself every ten seconds. */
const RENEWED = { timeout: 20 * SECOND };
/** Enough for the page to reload itself once. */
const ONE_RELOAD = 11 * SECOND;
/** After this time an open page must show that the worker does not answer. */
const WITHIN = 30 * SECOND;

beforeEach(({ skip }) => skip(NO_BROWSER !== undefined, NO_BROWSER));

/** A worker with the real leagues, and its page in a browser whose time the test moves. */
async function open(look: Look = 'light') {
  const bench = await setUp();
  const { worker, url } = await serve(bench);
  await worker.waitForPoll();
  const openPage = async (options: (typeof LOOKS)[Look]) => {
    const { page, expectQuiet } = await openTab(url, options);
    await page.clock.install();
    await page.goto('/');
    return { page, expectQuiet };
  };
  return {
    ...(await openPage(LOOKS[look])),
    openPage,
    bench,
    worker,
    simulator: bench.simulator,
    restart: () => serve(bench, { LEAGUE_SYNC_LISTEN: new URL(url).host }),
  };
}

const PARTS = "document.querySelectorAll('main > [data-part]')";
const lostIn = (page: Page) => page.getByRole('alert');
const headline = (page: Page) => page.locator('#state').getByRole('heading', { level: 1 });
const tabOf = async (page: Page) => [await page.title(), await page.locator('link[rel=icon]').getAttribute('href')];

/** The same leagues, the first of which moves to another city. */
function moveOne(leagues: readonly unknown[]): readonly unknown[] {
  return leagues.map((league) => {
    const fields = Object(league);
    return fields.league_name === '2. Bundesliga' ? { ...fields, city: 'Elsewhere' } : league;
  });
}

describe('an open page', () => {
  it('says within 30 s that the worker is gone, in every look, and recovers when it is back', async () => {
    const { worker, openPage, restart, page: first } = await open();
    const pages = [first];
    for (const look of [LOOKS.dark, LOOKS.phone]) pages.push((await openPage(look)).page);
    const before = pages.map(async (page) => [
      await page.locator('main').getAttribute('data-now'),
      ...(await tabOf(page)),
    ]);
    const tabs = await Promise.all(before);
    await worker.stop('SIGKILL');
    for (const [index, page] of pages.entries()) {
      const [now, ...tab] = tabs[index] ?? [];
      expect(tab).toEqual(['✓ Up to date · league-sync', './icon-good.svg']);
      await page.clock.runFor(WITHIN);
      expect(await lostIn(page).textContent()).toContain(`Not reachable since ${now?.slice(11, 19)} UTC`);
      expect(await page.locator('#pill').isVisible()).toBe(false);
      expect(await headline(page).isVisible()).toBe(false);
      expect(await tabOf(page)).toEqual(['? not reachable · league-sync', './icon-lost.svg']);
      expect(await page.evaluate('document.querySelector("#lost img").naturalWidth')).toBeGreaterThan(0);
      expect(await lostIn(page).textContent()).toMatch(/as of then, with data of \S+ \S+ UTC\. /);
      expect(await page.getByText(/worker started \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/).count()).toBe(1);
      await expectFits(page);
      await expectAccessible(page);
      await takePicture(page, `home-lost-${index}`);
    }
    await restart();
    await first.clock.runFor(ONE_RELOAD);
    await expect.poll(() => lostIn(first).count(), RENEWED).toBe(0);
    expect(await headline(first).isVisible()).toBe(true);
    expect(await tabOf(first)).toEqual(['✓ Up to date · league-sync', './icon-good.svg']);
  });

  it('does not wait for a response that never comes', async () => {
    const { page } = await open();
    const now = () => page.locator('main').getAttribute('data-now');
    const before = await now();
    let requests = 0;
    await page.route('/', async (route) => {
      requests += 1;
      if (requests > 1) await route.continue();
    });
    const givenUp = page.waitForEvent('requestfailed');
    await page.clock.runFor(ONE_RELOAD);
    await givenUp;
    await page.clock.runFor(ONE_RELOAD);
    await expect.poll(now, RENEWED).not.toBe(before);
    expect(requests).toBeGreaterThan(1);
  });

  it('shows that the database is gone and that it is back', async () => {
    const { bench, page } = await open();
    await page.getByRole('link', { name: 'All changes' }).focus();
    renameSync(bench.database, `${bench.database}.away`);
    await page.clock.runFor(ONE_RELOAD);
    await expect.poll(() => headline(page).textContent(), RENEWED).toBe('The database is gone');
    expect(await tabOf(page)).toEqual(['✗ The database is gone · league-sync', './icon-bad.svg']);
    expect(await lostIn(page).count()).toBe(0);
    expect(await page.getByRole('main').textContent()).not.toContain('Polls');
    renameSync(`${bench.database}.away`, bench.database);
    await page.clock.runFor(ONE_RELOAD);
    await expect.poll(() => headline(page).textContent(), RENEWED).toBe('Up to date');
    expect(await page.evaluate(`[...${PARTS}].map((part) => part.dataset.part)`)).toEqual([
      'state',
      'recent',
      'leagues',
      'seasons',
      'polls',
    ]);
  });

  it('counts every age up each second between two answers', async () => {
    const { page } = await open();
    const started = page.getByText(/worker started/);
    // Blocks all requests: a busy machine must not answer in between.
    await page.route('**/*', (route) => route.abort());
    await page.clock.pauseAt(Date.now() + 15 * SECOND);
    await page.clock.runFor(SECOND);
    const before = Number(/(\d+) s ago/.exec((await started.textContent()) ?? '')?.[1]);
    const facts = page.getByText(/data as of/);
    const age = Number(/(\d+) s old/.exec((await facts.textContent()) ?? '')?.[1]);
    await page.clock.runFor(3 * SECOND);
    expect(await started.textContent()).toBe(`worker started ${before + 3} s ago`);
    expect(await facts.textContent()).toContain(`(${age + 3} s old)`);
  });

  it('is renewed without alarm when it is shown after an hour', async () => {
    const { page, worker, simulator } = await open();
    const show = (visibility: 'visible' | 'hidden') =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${visibility}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    await page.evaluate(
      `new MutationObserver(() => document.body.append('alarm')).observe(document.getElementById('lost'), { attributes: true })`,
    );
    await show('hidden');
    await page.clock.pauseAt(Date.now() + 3_600 * SECOND);
    simulator.setFault('drop-third', true);
    await worker.pollNow('held');
    await show('visible');
    await page.clock.runFor(2 * SECOND);
    await expect.poll(() => headline(page).textContent(), RENEWED).toMatch(/removals are held$/);
    expect(await page.locator('body').textContent()).not.toContain('alarm');
  });
});

describe('the user of an open page', () => {
  it('sees updates except in the selected text, and the current state even if everything is selected', async () => {
    const { page, worker, simulator, expectQuiet } = await open();
    await page.evaluate(`getSelection().selectAllChildren(document.getElementById('seasons-title'));
      for (const part of ${PARTS}) part.isOld = true`);
    simulator.setLeagues(moveOne(simulator.leagues()));
    simulator.setFault('drop-third', true);
    await worker.pollNow('held');
    await page.clock.runFor(ONE_RELOAD);
    await expect.poll(() => headline(page).textContent(), RENEWED).toMatch(/removals are held$/);
    expect(await page.getByRole('heading', { name: /^held/ }).count()).toBe(1);
    expect(await page.evaluate('String(getSelection())')).toBe('Seasons');
    const kept = await page.evaluate(`[...${PARTS}].filter((part) => part.isOld).map((part) => part.dataset.part)`);
    expect(kept).toEqual(['leagues', 'seasons']);
    await page.keyboard.press('Control+A');
    simulator.setFault('drop-third', false);
    await worker.pollNow('unchanged');
    await page.clock.runFor(ONE_RELOAD);
    await expect.poll(() => headline(page).textContent(), RENEWED).toBe('Up to date');
    expectQuiet();
  });

  it('keeps what is typed into a search while the list is renewed', async () => {
    const { page, worker, simulator, expectQuiet } = await open();
    await page.goto('/leagues');
    const search = page.getByRole('searchbox');
    await search.fill('bund');
    await page.evaluate(`for (const part of ${PARTS}) part.isOld = true`);
    simulator.setLeagues(moveOne(simulator.leagues()));
    await worker.pollNow('changed');
    await page.clock.runFor(ONE_RELOAD);
    await expect.poll(() => page.getByRole('table').textContent(), RENEWED).toContain('Elsewhere');
    expect(await search.inputValue()).toBe('bund');
    expect(await page.evaluate('document.activeElement.name')).toBe('q');
    expect(await page.evaluate(`[...${PARTS}].filter((part) => part.isOld).map((part) => part.dataset.part)`)).toEqual([
      'search',
    ]);
    expectQuiet();
  });

  it('keeps focus and open details while the part is renewed', async () => {
    const { page, worker, simulator, expectQuiet } = await open('phone');
    const table = page.getByRole('region', { name: 'Polls' }).getByRole('table').first();
    await page.getByText('Show as a table').click();
    expect(await table.getByRole('row').count()).toBe(2);
    const scroll = "document.querySelector('[data-part=polls] .scroll')";
    await page.evaluate(`${scroll}.scrollLeft = -200`);
    simulator.setLeagues(moveOne(simulator.leagues()));
    await worker.pollNow('changed');
    await page.clock.runFor(ONE_RELOAD);
    await expect.poll(() => table.getByRole('row').count(), RENEWED).toBe(3);
    expect(await table.isVisible()).toBe(true);
    expect(await page.evaluate(`${scroll}.scrollLeft`)).toBe(-200);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
    expect(await page.getByRole('heading', { name: /^Today/ }).textContent()).toContain('1 changed');
    expectQuiet();
  });
});

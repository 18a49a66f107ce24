import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { EVERY_SECOND, setUp } from '../support/bench.ts';
import { expectAccessible, expectFits, LOOKS, NO_BROWSER, openTab, takePicture } from '../support/browser.ts';
import { makeFakeClock, missingFaketime, runUnder } from '../support/libfaketime.ts';
import { readiness, serve } from '../support/status-server.ts';

beforeEach(({ skip }) => skip(NO_BROWSER !== undefined, NO_BROWSER));

const AGE = /data as of \d\d:\d\d:\d\d UTC \((just now|\d+ s old)\)/;

/** The first impression of the page: the tab title, the headline and the line below it. */
async function look(page: Page) {
  await page.goto('/');
  const state = page.locator('#state');
  return {
    title: (await page.title()).replace(' · league-sync', ''),
    icon: await page.locator('link[rel=icon]').getAttribute('href'),
    look: await state.getAttribute('class'),
    headline: await state.getByRole('heading').textContent(),
    facts: (await state.locator('.facts').textContent()) ?? '',
    session: (await page.locator('.rows > div').nth(1).textContent())?.replace(/\s+/g, ' '),
  };
}

describe('the page', () => {
  it('is neutral during the first poll and red once it has failed', async () => {
    const bench = await setUp({ faults: ['hang'] });
    const { worker, url } = await serve(bench, { LEAGUE_SYNC_RUN_TIMEOUT: '5s' });
    const { page, expectQuiet } = await openTab(url);
    expect(await look(page)).toMatchObject({
      title: '… loading',
      icon: './icon-loading.svg',
      look: 'state loading',
      headline: 'Loading the leagues for the first time',
      facts: expect.stringMatching(/^no data yet · (polling the leagues now|next poll )/),
    });
    await expectAccessible(page);
    await takePicture(page, 'home-loading');
    await worker.waitForPoll('failed');
    expect(await look(page)).toMatchObject({
      title: '✗ no data yet',
      icon: './icon-bad.svg',
      look: 'state bad',
      headline: 'Stale: no poll has succeeded yet',
    });
    expectQuiet();
  });

  it('shows the age of the data and no session if the credentials are refused', async () => {
    const bench = await setUp();
    const { worker, url } = await serve(bench);
    await worker.waitForPoll('changed');
    bench.simulator.setFault('login-refused', true);
    bench.simulator.setFault('revoke-tokens', true);
    worker.send('SIGHUP');
    await worker.waitForPoll('failed');
    const { page, expectQuiet } = await openTab(url, LOOKS.dark);
    const found = await look(page);
    expect(found).toMatchObject({
      title: '✗ credentials problem',
      icon: './icon-bad.svg',
      look: 'state bad',
      headline: 'The service refuses the credentials',
      session: expect.stringMatching(/^Sessionlogin refused ?next try in \d+ s/),
    });
    expect(found.facts).toMatch(AGE);
    expect(found.facts).toMatch(/ · next try in \d+ s$/);
    await expectAccessible(page);
    await takePicture(page, 'home-refused-dark');
    expectQuiet();
  });

  it('shows an expired token in red instead of a session', async () => {
    const bench = await setUp({ tokenLifeMs: 3_000, faults: ['wrong-clock'] });
    const env = { LEAGUE_SYNC_STALE_AFTER: '2s', LEAGUE_SYNC_RUN_TIMEOUT: '3s', LEAGUE_SYNC_SCHEDULE: EVERY_SECOND };
    const { worker, url } = await serve(bench, env);
    await worker.waitForPoll('changed');
    const session = async () => JSON.parse(await (await fetch(`${url}/status.json`)).text()).session;
    // Its expiry is two hours ahead by the service's clock, and the token is valid by either clock.
    expect(await session()).toMatchObject({ logged_in: true, clock_skew_ms: expect.any(Number) });
    bench.simulator.setFault('login-down', true);
    await expect.poll(session, { timeout: 15_000 }).toMatchObject({ logged_in: false });
    const { page, expectQuiet } = await openTab(url, LOOKS.phone);
    const found = await look(page);
    expect(found.session).toMatch(/^Sessionexpired (just now|\d+ s ago)/);
    expect(found.session).not.toContain('logged in');
    expect(await page.locator('.rows .bad').count()).toBe(1);
    await expect.poll(async () => (await look(page)).title, { timeout: 15_000 }).toMatch(/^✗ \d+ s old$/);
    expect((await look(page)).facts).toMatch(AGE);
    await expectFits(page);
    await expectAccessible(page);
    await takePicture(page, 'home-expired-phone');
    expectQuiet();
  });

  it('shows the end of a Retry-After and the age of the data', async () => {
    const bench = await setUp();
    const { worker, url } = await serve(bench);
    await worker.waitForPoll('changed');
    bench.simulator.setFault('long-pause', true);
    worker.send('SIGHUP');
    await worker.waitForPoll('failed');
    const { page, expectQuiet } = await openTab(url);
    const found = await look(page);
    expect(found).toMatchObject({ title: '! 1 poll failed', icon: './icon-warning.svg', look: 'state warning' });
    expect(found.facts).toMatch(AGE);
    expect(found.facts).toMatch(/ · the service asked for a pause \(Retry-After\), which ends in \d+ min$/);
    expect(await readiness(url)).toEqual([200, []]);
    expectQuiet();
  });

  it('shows correct ages after the clock was set back', async ({ skip }) => {
    const why = missingFaketime();
    skip(why !== undefined, why);
    const bench = await setUp();
    const clock = makeFakeClock(bench.folder, '+0');
    const env = { LEAGUE_SYNC_LISTEN: '127.0.0.1:0', LEAGUE_SYNC_STALE_AFTER: '4s', LEAGUE_SYNC_RUN_TIMEOUT: '3s' };
    const worker = runUnder(clock, bench, env);
    const { url } = await worker.waitForLog((line) => line.url !== undefined);
    await worker.waitForPoll('changed');
    clock.set('-3600');
    const { page, expectQuiet } = await openTab(String(url));
    await expect.poll(async () => (await look(page)).title, { timeout: 15_000 }).toMatch(/^✗ \d+ s old$/);
    const { facts, session } = await look(page);
    expect(facts).toMatch(/data as of (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC \(\d+ s old\)/);
    expect(session).toMatch(/token expires in \d+ min.*last login (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC: ok/);
    expect(await readiness(String(url))).toEqual([503, ['stale']]);
    await takePicture(page, 'home-clock-back');
    expectQuiet();
  });

  it('draws the newest poll at the end of the axis, on a phone as well', async () => {
    const bench = await setUp();
    const { worker, url } = await serve(bench, { LEAGUE_SYNC_SCHEDULE: '0 0 1 1 *' });
    await worker.waitForPoll();
    for (const viewport of [LOOKS.light.viewport, LOOKS.phone.viewport]) {
      const { page, expectQuiet } = await openTab(url, { viewport });
      await page.goto('/');
      const chart = await page.locator('svg.polls').boundingBox();
      const bar = await page.locator('svg.polls > g rect.changed').boundingBox();
      const card = await page.getByRole('region', { name: 'Polls' }).boundingBox();
      if (chart === null || bar === null || card === null) throw new Error('nothing is drawn');
      expect(Math.abs(chart.x + chart.width - bar.x - bar.width)).toBeLessThan(15);
      // The chart is wider than a phone, and begins at its end.
      expect(bar.x + bar.width).toBeLessThan(card.x + card.width);
      expectQuiet();
    }
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
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
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { serve, serveLeagues } from '../support/status-server.ts';

const EVERY_LOOK = Object.keys(LOOKS) as readonly Look[];
const MANY = 20_000;
const LONG_NAME = 'long '.repeat(40_000);
const HOSTILE: readonly (readonly [id: string, name: string])[] = [
  ['script', "<script>alert('x')</script>"],
  ['image', '"><img src=x onerror=alert(1)>'],
  ['quotes', `O'Brien & "Sons"`],
  ['right-to-left', '\u202Eدوري المحترفين\u202C'],
  ['long', LONG_NAME],
  ['../../etc/passwd?x=1#y', 'an id that is a path'],
  ['<b>bold</b>', 'an id that is markup'],
  ['empty', ''],
];

beforeEach(({ skip }) => skip(NO_BROWSER !== undefined, NO_BROWSER));

describe('the status page', () => {
  it.each(EVERY_LOOK)('shows the real leagues (%s), fits, and is accessible', async (look) => {
    const { worker, url } = await serve(await setUp());
    await worker.waitForPoll();
    const { page, expectQuiet } = await openTab(url, LOOKS[look]);
    await page.goto('/');
    expect(await page.title()).toBe('✓ 124 leagues · league-sync');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Up to date');
    expect(await page.getByRole('main').textContent()).toMatch(/124 listed/);
    await expectFits(page);
    await expectAccessible(page);
    await takePicture(page, `home-${look}`);
    await page.goto('/leagues');
    expect(await page.getByRole('table').getByRole('row').count()).toBe(51);
    await expectFits(page);
    await expectAccessible(page);
    await takePicture(page, `leagues-${look}`);
    expectQuiet();
  });

  it('says so if there are no leagues', async () => {
    const { url } = await serveLeagues([]);
    const { page, expectQuiet } = await openTab(url);
    await page.goto('/');
    const text = await page.getByRole('main').textContent();
    for (const sentence of ['Up to date: the service lists no leagues', 'The service lists none.'])
      expect(text).toContain(sentence);
    await expectAccessible(page);
    await takePicture(page, 'home-empty');
    expectQuiet();
  });

  it('lists 20,000 leagues a page at a time', async () => {
    const { url } = await serveLeagues(makeLeagues(MANY));
    const { page, expectQuiet } = await openTab(url);
    await page.goto('/leagues');
    const list = page.getByRole('region', { name: 'List of leagues' });
    expect(await list.textContent()).toContain('20,000 leagues, 1 to 50, sorted by name');
    await list.getByRole('link', { name: 'Next' }).first().click();
    expect(await list.textContent()).toContain('51 to 100, sorted by name');
    await list.getByRole('link', { name: 'Last' }).first().click();
    await page.waitForURL(/page=400$/);
    expect(await list.getByRole('link', { name: 'Next' }).count()).toBe(0);
    await expectAccessible(page);
    await takePicture(page, 'leagues-20000');
    expectQuiet();
  });

  it('shows malicious names as plain text', async () => {
    const { url } = await serveLeagues(
      HOSTILE.map(([id, name]) => makeLeague(id, { league_name: name, sport: name.slice(0, 300) })),
    );
    const { page, expectQuiet } = await openTab(url, LOOKS.phone);
    await page.goto('/leagues');
    for (const [, name] of HOSTILE.filter(([id]) => id !== 'long' && id !== 'empty'))
      expect(await page.getByRole('link', { name: name.replace(/[\u202E\u202C]/g, '') }).count()).toBeGreaterThan(0);
    await expectFits(page);
    await expectAccessible(page);
    await takePicture(page, 'leagues-hostile');
    for (const path of ['/', '/changes?poll=1&kind=added', `/leagues?q=${encodeURIComponent('"><b>')}`]) {
      await page.goto(path);
      await expectFits(page);
      await expectAccessible(page);
    }
    for (const [id, name] of HOSTILE) {
      await page.goto(`/league?${new URLSearchParams({ id })}`);
      const title = await page.getByRole('heading', { level: 1 }).textContent();
      expect(title?.startsWith((name || id).slice(0, 1_000))).toBe(true);
      await expectFits(page);
    }
    await expectAccessible(page);
    expectQuiet();
  });
});

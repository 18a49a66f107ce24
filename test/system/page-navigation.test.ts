import { beforeEach, describe, expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { expectAccessible, LOOKS, NO_BROWSER, openTab } from '../support/browser.ts';
import { serve } from '../support/status-server.ts';

beforeEach(({ skip }) => skip(NO_BROWSER !== undefined, NO_BROWSER));

async function open(options: Parameters<typeof openTab>[1] = LOOKS.light) {
  const bench = await setUp();
  const { simulator } = bench;
  const { worker, url } = await serve(bench);
  await worker.waitForPoll('changed');
  const leagues = simulator.leagues() as readonly Readonly<Record<string, unknown>>[];
  return {
    ...(await openTab(url, options)),
    bench,
    leagues,
    /** Polls a list, by default with this city for its first leagues. */
    poll: async (city: string, count: number, list = leagues) => {
      simulator.setLeagues(list.map((sent, index) => (index < count ? { ...sent, city } : sent)));
      worker.send('SIGHUP');
      await worker.waitForPoll('changed');
    },
    fail: async (...faults: readonly string[]) => {
      for (const fault of faults) simulator.setFault(fault, true);
      worker.send('SIGHUP');
      await worker.waitForPoll('held');
    },
  };
}

describe('the list of leagues', () => {
  it('is searched with the keyboard only, and the search has an address to bookmark', async () => {
    const { page, expectQuiet } = await open();
    await page.goto('/leagues');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.getByRole('searchbox').focus();
    await page.keyboard.type('bundes');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=bundes/);
    const names = page.getByRole('region', { name: 'List of leagues' }).getByRole('rowheader');
    expect(await names.allTextContents()).toEqual(['2. Bundesliga', 'Austrian Bundesliga', 'Bundesliga']);
    // Links that were made when the list was on the home page lead here.
    await page.goto('/?q=bundes&sport=soccer&status=active');
    expect(page.url()).toMatch(/\/leagues\?q=bundes&sport=soccer&status=active$/);
    expect(await page.getByRole('searchbox').inputValue()).toBe('bundes');
    expect(await names.count()).toBeGreaterThan(0);
    await page.goto('/leagues?q=100%25_no_such');
    expect(await page.getByRole('main').textContent()).toContain('No leagues match “100%_no_such”. Show all');
    expectQuiet();
  });

  it('has pages, and links by sport and status that mark the current choice', async () => {
    const { page, expectQuiet } = await open();
    await page.goto('/leagues');
    const list = page.getByRole('region', { name: 'List of leagues' });
    expect(await list.textContent()).toContain('124 leagues, 1 to 50, sorted by name');
    await list.getByRole('link', { name: 'Next' }).first().click();
    await page.waitForURL(/page=2$/);
    expect(await list.textContent()).toContain('51 to 100, sorted by name');
    await page.goto('/leagues');
    await list.getByRole('link', { name: 'Last' }).first().click();
    await page.waitForURL(/page=3$/);
    expect(await list.getByRole('link', { name: 'Next' }).count()).toBe(0);
    await page.getByRole('navigation', { name: 'Sports' }).getByRole('link', { name: 'cricket' }).click();
    await page.waitForURL(/sport=cricket/);
    await page.getByRole('navigation', { name: 'Statuses' }).getByRole('link', { name: 'inactive' }).click();
    await page.waitForURL(/status=inactive/);
    expect(await page.locator('[aria-current=true]').allTextContents()).toEqual([
      expect.stringMatching(/^inactive \d+$/),
      expect.stringMatching(/^cricket \d+$/),
      'name',
    ]);
    const rows = page.getByRole('table').getByRole('row');
    for (const text of (await rows.allTextContents()).slice(1)) expect(text).toMatch(/cricket\s+inactive/);
    expectQuiet();
  });

  it('leads to all fields of a league and its history', async () => {
    const { page, expectQuiet, bench, leagues, poll } = await open(LOOKS.phone);
    const { league_id: id, league_name: name } = leagues.find(({ city }) => typeof city === 'string') ?? {};
    await poll('Elsewhere', leagues.length);
    await page.goto(`/league?${new URLSearchParams({ id: String(id) })}`);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(name);
    const fields = page.getByRole('region', { name: 'Fields' });
    await fields.getByText(/\d+ without a value/).click();
    expect(await fields.getByRole('term').count()).toBe(20);
    expect(await page.getByRole('region', { name: 'History' }).textContent()).toMatch(
      /changed[\s\S]*city[\s\S]*Elsewhere[\s\S]*added/,
    );
    expect(bench.rows((await page.locator('.sql').textContent()) ?? '')).toHaveLength(2);
    await expectAccessible(page);
    expectQuiet();
    const missing = await page.goto('/league?id=nothing');
    expect([missing?.status(), await page.title()]).toEqual([404, '✓ No such league · league-sync']);
    await expectAccessible(page);
  });

  it('is reached from what is held, and the names of what was rejected are shown', async () => {
    const { page, expectQuiet, bench, fail } = await open();
    await fail('drop-third', 'bad-rows');
    await page.goto('/');
    const rejected = page.getByRole('region', { name: /^rejected/ });
    expect(await rejected.getByRole('heading', { level: 3 }).first().textContent()).toMatch(/^\d+ × \S/);
    expect(await rejected.getByRole('link').count()).toBeGreaterThan(0);
    await page.getByRole('region', { name: /^held/ }).getByRole('link', { name: /more$/ }).click();
    await page.waitForURL(/leagues\?status=held$/);
    const [row] = bench.rows('SELECT count(*) AS held FROM held_removals');
    expect(await page.getByRole('table').textContent()).toContain(`${row?.held} leagues`);
    expectQuiet();
  });
});

describe('the changes', () => {
  it('are shown by poll and kind, a first load as one line that leads to pages of its changes', async () => {
    const { page, expectQuiet, leagues, poll } = await open();
    await poll('Elsewhere', 3);
    await poll('Elsewhere', 2, leagues.slice(1));
    await page.goto('/changes');
    expect(await page.getByRole('heading', { level: 3 }).allTextContents()).toEqual([
      expect.stringMatching(/^Today \d\d:\d\d .* · 1 removed$/),
      expect.stringMatching(/^Today \d\d:\d\d .* · 3 changed$/),
      expect.stringMatching(/^Today \d\d:\d\d .* · 124 added$/),
    ]);
    const list = page.getByRole('region', { name: 'List of changes' });
    expect(await list.getByRole('listitem').count()).toBe(1 + 3 + 1);
    expect(await list.getByRole('img', { name: 'changed' }).allTextContents()).toEqual(['~', '~', '~']);
    await page.getByRole('navigation', { name: 'Kinds' }).getByRole('link', { name: 'removed' }).click();
    await page.waitForURL(/kind=removed/);
    expect(await list.getByRole('listitem').count()).toBe(1);
    await page.goto('/changes');
    await list.getByRole('link', { name: '121 more' }).click();
    await page.waitForURL(/poll=1&kind=added/);
    const items = page.getByRole('main').locator('.feed li');
    expect(await items.count()).toBe(100);
    await page.getByRole('link', { name: 'Next' }).click();
    await page.waitForURL(/page=2/);
    expect(await items.count()).toBe(24);
    await expectAccessible(page);
    expectQuiet();
  });

  it('have pages, and a form for a day', async () => {
    const { page, expectQuiet, bench, poll } = await open();
    for (let nth = 1; nth <= 6; nth += 1) await poll(`City ${nth}`, 20);
    await page.goto('/changes');
    const heads = page.getByRole('heading', { level: 3 });
    expect(await heads.count()).toBe(5);
    expect(await page.getByRole('link', { name: 'Newer' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Older' }).click();
    await page.waitForURL(/older=/);
    expect(await heads.count()).toBe(2);
    expect(await page.getByRole('link', { name: 'Older' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Newer' }).click();
    await page.waitForURL(/newer=/);
    expect(await heads.count()).toBe(5);
    const [row] = bench.rows('SELECT substr(at, 1, 10) AS day FROM league_changes LIMIT 1');
    await page.getByLabel('Day (UTC)').fill(String(row?.day));
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(new RegExp(`day=${row?.day}`));
    expect(await heads.count()).toBe(5);
    await page.goto('/changes?day=2001-01-01');
    expect(await page.getByRole('main').textContent()).toContain('No changes.');
    await expectAccessible(page);
    expectQuiet();
  });
});

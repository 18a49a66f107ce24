import { beforeEach, describe, expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { expectAccessible, LOOKS, NO_BROWSER, openTab, takePicture } from '../support/browser.ts';
import { type Served, serve } from '../support/status-server.ts';

beforeEach(({ skip }) => skip(NO_BROWSER !== undefined, NO_BROWSER));

async function serveReal(): Promise<Served & { readonly simulator: Awaited<ReturnType<typeof setUp>>['simulator'] }> {
  const bench = await setUp();
  const served = await serve(bench);
  await served.worker.waitForPoll();
  return { ...served, simulator: bench.simulator };
}

describe('the search for a league', () => {
  it('works with the keyboard only, and has an address to bookmark', async () => {
    const { url } = await serveReal();
    const { page, expectQuiet } = await openTab(url);
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
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(
      '/leagues?q=bundes&sport=soccer&status=active',
    );
    expect(await page.getByRole('searchbox').inputValue()).toBe('bundes');
    expect(await names.count()).toBeGreaterThan(0);
    await page.goto('/leagues?q=100%25_no_such');
    expect(await page.getByRole('main').textContent()).toContain('No leagues match “100%_no_such”. Show all');
    expectQuiet();
  });

  it('filters by sport and status links, which mark the current choice', async () => {
    const { url } = await serveReal();
    const { page, expectQuiet } = await openTab(url);
    await page.goto('/leagues');
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

  it('leads to all of its fields and its history', async () => {
    const { url, worker, simulator, bench } = await serveReal();
    const { page, expectQuiet } = await openTab(url, LOOKS.phone);
    const [{ league_id: id, league_name: name }] = bench.rows(
      'SELECT league_id, league_name FROM leagues WHERE city IS NOT NULL ORDER BY league_id LIMIT 1',
    ) as readonly [{ league_id: string; league_name: string }];
    simulator.setLeagues(simulator.leagues().map((sent) => ({ ...(sent as object), city: 'Elsewhere' })));
    worker.send('SIGHUP');
    await worker.waitForPoll('changed');
    await page.goto(`/league?${new URLSearchParams({ id })}`);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(name);
    const fields = page.getByRole('region', { name: 'Fields' });
    await fields.getByText(/\d+ without a value/).click();
    expect(await fields.getByRole('term').count()).toBe(20);
    expect(await page.getByRole('region', { name: 'History' }).textContent()).toMatch(
      /changed[\s\S]*city[\s\S]*Elsewhere[\s\S]*added/,
    );
    const sql = (await page.locator('.sql').textContent()) ?? '';
    expect(bench.rows(sql)).toHaveLength(2);
    await expectAccessible(page);
    await takePicture(page, 'league-phone');
    expectQuiet();
    const missing = await page.goto('/league?id=nothing');
    expect([missing?.status(), await page.title()]).toEqual([404, '✓ No such league · league-sync']);
    await expectAccessible(page);
  });
});

describe('an operator', () => {
  it('sees open issues and what to do without JavaScript', async () => {
    const { url, worker, simulator } = await serveReal();
    for (const name of ['drop-third', 'bad-rows', 'new-field'])
      await fetch(`${simulator.url}/_faults/${name}`, { method: 'PUT' });
    worker.send('SIGHUP');
    await worker.waitForPoll('held');
    const { page, expectQuiet } = await openTab(url, { ...LOOKS.dark, javaScriptEnabled: false });
    await page.goto('/');
    const main = await page.getByRole('main').textContent();
    expect(main).toMatch(/The removal of \d+ leagues is held[\s\S]*league-sync accept-removals/);
    expect(main).toMatch(/held\s*\d+ removals/);
    expect(main).toMatch(/list elements cannot be stored[\s\S]*rejected_leagues[\s\S]*rejected\s*\d+ elements?/);
    expect(main).toContain('The service has departed from its interface');
    expect(main).toContain('token expires in');
    await takePicture(page, 'home-troubles-dark');
    expectQuiet();
  });

  it('sees that polls fail, why, and that the data has grown stale', async () => {
    const bench = await setUp();
    const served = await serve(bench, { LEAGUE_SYNC_STALE_AFTER: '1s', LEAGUE_SYNC_RUN_TIMEOUT: '3s' });
    await served.worker.waitForPoll('changed');
    await fetch(`${bench.simulator.url}/_faults/down`, { method: 'PUT' });
    served.worker.send('SIGHUP');
    await served.worker.waitForPoll('failed');
    await expect.poll(async () => (await fetch(`${served.url}/readyz`)).status, { timeout: 10_000 }).toBe(503);
    const { page, expectQuiet } = await openTab(served.url, LOOKS.phone);
    await page.goto('/');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(
      /^Stale: the last good poll was \d+ s ago$/,
    );
    const attention = page.locator('#state .attention').getByRole('listitem');
    expect(await attention.allTextContents()).toEqual([
      expect.stringMatching(/^What happened The last poll of the leagues failed: .* with status 503\./),
    ]);
    expect(await page.getByRole('img', { name: /The last 2 polls: 1 failed/ }).count()).toBe(1);
    await page.getByText('Show as a table').click();
    expect(await page.getByRole('table').first().textContent()).toMatch(/failed: /);
    await expectAccessible(page);
    await takePicture(page, 'home-failing-phone');
    expectQuiet();
  });

  it('reaches every held league, and the names of what was rejected', async () => {
    const { url, worker, simulator, bench } = await serveReal();
    for (const name of ['drop-third', 'bad-rows'] as const) simulator.setFault(name, true);
    worker.send('SIGHUP');
    await worker.waitForPoll('held');
    const { page, expectQuiet } = await openTab(url);
    await page.goto('/');
    const rejected = page.getByRole('region', { name: /^rejected/ });
    expect(await rejected.getByRole('heading', { level: 3 }).first().textContent()).toMatch(/^\d+ × \S/);
    expect(await rejected.getByRole('link').count()).toBeGreaterThan(0);
    await page.getByRole('region', { name: /^held/ }).getByRole('link', { name: /more$/ }).click();
    await page.waitForURL(/leagues\?status=held$/);
    const [{ held }] = bench.rows('SELECT count(*) AS held FROM held_removals') as readonly [{ held: number }];
    expect(await page.getByRole('table').textContent()).toContain(`${held} leagues`);
    expectQuiet();
  });

  it('sees the changes by poll, and a first load as one line', async () => {
    const { url, worker, simulator } = await serveReal();
    const leagues = simulator.leagues();
    const change = async (sent: readonly unknown[], outcome = 'changed') => {
      simulator.setLeagues(sent);
      worker.send('SIGHUP');
      await worker.waitForPoll(outcome);
    };
    const moved = leagues.map((sent, index) => (index < 3 ? { ...(sent as object), city: 'Elsewhere' } : sent));
    await change(moved);
    await change(moved.slice(1));
    const { page, expectQuiet } = await openTab(url);
    await page.goto('/changes');
    const heads = page.getByRole('heading', { level: 3 });
    expect(await heads.allTextContents()).toEqual([
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

  it('pages through the changes, and filters by day', async () => {
    const { url, worker, simulator, bench } = await serveReal();
    const leagues = simulator.leagues();
    // Six polls with twenty changes each, and the first with all leagues.
    for (let poll = 1; poll <= 6; poll += 1) {
      simulator.setLeagues(
        leagues.map((sent, index) => (index < 20 ? { ...(sent as object), city: `City ${poll}` } : sent)),
      );
      worker.send('SIGHUP');
      await worker.waitForPoll('changed');
    }
    const { page, expectQuiet } = await openTab(url);
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
    const [{ day }] = bench.rows('SELECT substr(at, 1, 10) AS day FROM league_changes LIMIT 1') as readonly [
      { day: string },
    ];
    await page.getByLabel('Day (UTC)').fill(day);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(new RegExp(`day=${day}`));
    expect(await heads.count()).toBe(5);
    await page.goto('/changes?day=2001-01-01');
    expect(await page.getByRole('main').textContent()).toContain('No changes.');
    await expectAccessible(page);
    expectQuiet();
  });
});

import { renameSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { DEMO_SECRET } from '../../src/simulator/receiver.ts';
import { setUp } from '../support/bench.ts';
import { makeLeague } from '../support/leagues.ts';
import { type Environment, eventually } from '../support/program.ts';
import { serve, serveLists } from '../support/status-server.ts';
import { expectAccessible, expectFits, LOOKS, type Look, NO_BROWSER, openTab, takePicture } from './browser.ts';

const PATHS = ['/', '/leagues', '/changes', '/changes?poll=1&kind=added'];
/** By priority. The name of a row begins with the letters of its face. */
const NAMED_BUNDESLIGA = [/ Bundesliga$/, / 2\. Bundesliga$/, / Austrian Bundesliga$/].map((name) =>
  expect.stringMatching(name),
);
const HOSTILE: readonly (readonly [id: string, name: string])[] = [
  ['script', "<script>alert('x')</script>"],
  ['image', '"><img src=x onerror=alert(1)>'],
  ['quotes', `O'Brien & "Sons"`],
  ['right-to-left', '\u202Eدوري المحترفين\u202C'],
  ['long', 'long '.repeat(40_000)],
  ['one word', 'long'.repeat(60)],
  ['../../etc/passwd?x=1#y', 'an id that is a path'],
  ['<b>bold</b>', 'an id that is markup'],
  ['empty', ''],
];

beforeEach(({ skip }) => skip(NO_BROWSER !== undefined, NO_BROWSER));

/** A worker with the real leagues, and a function that polls with these faults. */
async function serveReal(env: Environment = {}) {
  const { simulator, ...bench } = await setUp({ faults: ['webhook-500'] });
  const served = await serve(bench, {
    LEAGUE_SYNC_WEBHOOK_URL: `${simulator.url}/_webhooks`,
    LEAGUE_SYNC_WEBHOOK_SECRET: DEMO_SECRET,
    ...env,
  });
  await served.worker.waitForPoll('changed');
  const poll = async (outcome: string, ...faults: readonly string[]) => {
    for (const fault of faults) simulator.setFault(fault, true);
    await served.worker.pollNow(outcome);
    for (const fault of faults) simulator.setFault(fault, false);
  };
  return { ...served, simulator, poll };
}

/** Each of these brings a worker into a state, and resolves with the address of its page. */
const STATES: Readonly<Record<string, () => Promise<string>>> = {
  'with every outcome, held removals, rejections, drift, and neither a webhook nor a mirror that works': async () => {
    const { url, worker, poll } = await serveReal({
      LEAGUE_SYNC_POSTGRES_URL: 'postgres://mirror:a-secret-word@127.0.0.1:9/leagues',
    });
    const hasFailed = (what: RegExp): boolean => worker.log().some(({ msg }) => what.test(String(msg)));
    await poll('failed', 'not-json');
    await poll('held', 'drop-third', 'bad-rows', 'new-field');
    await eventually(
      'both fail',
      () => hasFailed(/^the webhook at .* failed/) && hasFailed(/^The mirror at .* cannot/),
    );
    return url;
  },
  'without its database': async () => {
    const { bench, url } = await serveReal();
    renameSync(bench.database, `${bench.database}.away`);
    return url;
  },
  'in its first poll': async () => (await serve(await setUp({ faults: ['hang'] }))).url,
  'with hostile names': serveHostile,
};

async function serveHostile(): Promise<string> {
  const leagues = HOSTILE.map(([id, name]) => makeLeague(id, { league_name: name, sport: name.slice(0, 300) }));
  return (await serveLists(leagues)).url;
}

const NFL = '981cfa69-3946-59e8-bc6e-e7b00f37cadc';
/** Words of letters alone whose parts are on different lines. */
const BROKEN_WORDS = `(() => {
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const broken = [];
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    for (const { 0: word, index } of text.data.matchAll(/(?<=^|\\s)\\p{L}+(?=\\s|$)/gu)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
    }
  return broken;
})()`;

describe('every page of a worker', () => {
  it.each(Object.entries(STATES))('%s fits, is accessible and asks nobody else', async (name, enter) => {
    const url = await enter();
    for (const look of Object.keys(LOOKS) as readonly Look[]) {
      const { page, expectQuiet } = await openTab(url, LOOKS[look]);
      let isWhole = true;
      // On the other pages, only names and lists can be too wide.
      for (const path of look === 'light' || /hostile/.test(name) ? PATHS : ['/']) {
        const answer = await page.goto(path);
        expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
        await expectFits(page);
        await expectAccessible(page);
        await takePicture(page, `${path.replaceAll(/\W+/g, '-')}-${name.replaceAll(/\W+/g, '-')}-${look}`);
        isWhole &&= answer?.status() === 200;
      }
      // A browser complains of an answer with another status.
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
    await expectAccessible(page);
    await page.goto(`/leagues?q=${encodeURIComponent('"><b>')}`);
    expect(await page.getByRole('searchbox').inputValue()).toBe('"><b>');
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
      expect(Math.abs(chart.x + chart.width - bar.x - bar.width)).toBeLessThan(75);
      // The chart is wider than a phone, and begins at its end.
      expect(bar.x + bar.width).toBeLessThan(card.x + card.width);
    }
  });

  it('fits a phone: no word is broken, and a list can be sorted and begins on the first screen', async () => {
    const { url, poll } = await serveReal();
    await poll('held', 'drop-third', 'new-field');
    const { page } = await openTab(url, LOOKS.phone);
    for (const path of ['/', '/changes', `/league?id=${NFL}`, '/leagues']) {
      await page.goto(path);
      expect(await page.evaluate(BROKEN_WORDS)).toEqual([]);
    }
    await page.getByRole('link', { name: 'Name', exact: true }).click();
    await page.waitForURL(/sort=name/);
    const first = page.locator('tbody tr').first();
    expect(await first.textContent()).toContain('2. Bundesliga');
    expect((await first.boundingBox())?.y).toBeLessThan(330);
  });

  it('can be used with the keyboard only', async () => {
    const { url } = await serveReal();
    const { page, expectQuiet } = await openTab(url);
    await page.goto('/leagues');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('/');
    await page.keyboard.type('bundes/');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Enter');
    await page.waitForURL(/leagues\?q=bundes/);
    const names = page.getByRole('region', { name: 'List of leagues' }).getByRole('rowheader');
    expect(await names.allTextContents()).toEqual(NAMED_BUNDESLIGA);
    await page.goto('/changes?kind=added');
    await page.getByLabel('Day (UTC)').fill('2001-01-01');
    await page.getByRole('button', { name: 'Show' }).press('Enter');
    await page.waitForURL(/changes\?kind=added&sport=&field=&day=2001-01-01$/);
    expect(await page.getByRole('main').textContent()).toContain('No changes.');
    expectQuiet();
  });
});

/** What each time shows on paper that has no instant beside it or above; undefined if it shows its words. */
const PRINTED_TIMES = `[...document.querySelectorAll('time:not(.feed *, .facts *, .attention [data-age])')].filter((time) => time.checkVisibility()).map((time) =>
  getComputedStyle(time).fontSize === '0px' ? getComputedStyle(time, '::after').content : undefined)`;
const GROUNDS = `[...document.querySelectorAll('body, section')].map((part) => getComputedStyle(part).backgroundColor)`;

it('the page is dark on white on paper, and shows when things happened, even if the screen is dark', async () => {
  const { url, poll } = await serveReal();
  await poll('held', 'drop-third');
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
    await takePicture(page, `${path.replaceAll(/\W+/g, '-')}-print`);
  }
  expectQuiet();
});

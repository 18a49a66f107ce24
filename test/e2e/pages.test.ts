import { describe, expect, it } from 'vitest';
import { setUpFor } from '../support/bench.ts';
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { listLeagues, startService } from '../support/service.ts';
import { serveHere } from '../support/status-server.ts';

/** Polls these lists one after the other, and returns the HTML of pages. */
async function serve(...lists: readonly (readonly unknown[])[]) {
  const [first = [], ...others] = lists;
  const service = await startService({ leagues: listLeagues(first) });
  const { worker, url } = await serveHere(setUpFor(service.url));
  await worker.waitForPoll();
  for (const list of others) {
    service.script('leagues', listLeagues(list));
    worker.send('SIGHUP');
    await worker.waitForPoll();
  }
  return async (path: string): Promise<string> => (await fetch(url + path)).text();
}

/** What a text browser shows, roughly. */
const textOf = (page: string): string =>
  page
    .replace(/<head>.*?<\/head>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

describe('the pages', () => {
  it('say nothing untrue without scripts and styles', async () => {
    const page = await serve([makeLeague('l1')]);
    for (const path of ['/', '/leagues', '/changes', '/nothing'])
      expect(textOf(await page(path))).not.toMatch(/cannot be reached|lost/);
  });

  it('count all departures from the interface, and not only those that they list', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 57 }, (_, index) => [`field${index}`, 1]));
    const page = await serve([makeLeague('l1', unknown)]);
    const text = textOf(await page('/'));
    expect(text).toContain('57 departures from the interface');
    expect(text.match(/unknown field/g)).toHaveLength(20);
    expect(text).toContain('and 37 more in the table drift');
  });

  it('show the last page of the changes of a poll if a later one is asked for', async () => {
    const page = await serve(makeLeagues(120));
    const text = textOf(await page('/changes?poll=1&kind=added&page=99'));
    expect(text).toContain('← Previous page 2 of 2');
  });

  it('mark leagues whose removal is held, and say for how long', async () => {
    const page = await serve(makeLeagues(20), makeLeagues(10));
    const all = await page('/leagues');
    expect(all.match(/<span class="tag held">held<\/span>/g)).toHaveLength(10);
    const held = textOf(await page('/leagues?status=held'));
    expect(held.match(/active held 3 held (just now|\d+ s)/g)).toHaveLength(10);
    expect(textOf(all)).not.toMatch(/held \d+ s|held just now/);
  });

  it('spell flags as the service does, in changes as in fields', async () => {
    const page = await serve(
      [makeLeague('l1', { rankings: false, default_tournaments: true, priority: 1 })],
      [makeLeague('l1', { rankings: true, priority: 0 })],
    );
    for (const path of ['/changes', '/league?id=l1']) {
      const text = textOf(await page(path));
      for (const change of ['rankings false', 'priority 1', 'default_tournaments true']) expect(text).toContain(change);
      for (const value of ['true', '0', 'nothing']) expect(text).toContain(`&rarr; ${value}`);
    }
  });

  it('escape a league whose every value claims to be escaped', async () => {
    const claim = { isEscaped: true, callbacks: [], toString: '<i>raw</i>', 0: '<i>raw</i>' };
    const all = ['league_name', 'sport', 'league_image', 'priority', 'status', 'create_datetime', 'city', 'state'];
    const others = ['last_update_datetime', 'rankings', 'active_year', 'default_markets', 'external_id', '<i>raw</i>'];
    const some = (names: readonly string[], value: unknown) => Object.fromEntries(names.map((name) => [name, value]));
    const page = await serve(
      [makeLeague('l1'), makeLeague('l2')],
      [
        makeLeague('l1', some([...all.slice(5), ...others], claim)),
        makeLeague('l2', some([...all, ...others], claim)),
        makeLeague('l3', some(['city', 'extra', ...others], [claim, '<i>raw</i>'])),
      ],
    );
    for (const path of ['/', '/leagues', '/changes', '/league?id=l1', '/league?id=l2', '/league?id=l3']) {
      const html = await page(path);
      expect(html).not.toMatch(/<i>raw|\[object/);
      if (path !== '/leagues' && !path.endsWith('l2')) expect(html).toContain('&lt;i&gt;raw');
    }
    expect(textOf(await page('/leagues'))).toContain('3 leagues');
  });
});

import { describe, expect, it } from 'vitest';
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { serveLists } from '../support/status-server.ts';

/** Polls these lists one after the other, and returns the HTML and the text of pages. */
async function servePages(...lists: readonly (readonly unknown[])[]) {
  const { bench, url } = await serveLists(...lists);
  const page = async (path: string): Promise<string> => (await fetch(url + path)).text();
  return { bench, page, text: async (path: string): Promise<string> => textOf(await page(path)) };
}

/** The same, and only the HTML. */
const serve = async (...lists: readonly (readonly unknown[])[]) => (await servePages(...lists)).page;

/** The names of the leagues in a list, or of the leagues whose changes are shown. */
const namesIn = (page: string): readonly string[] =>
  [...page.matchAll(/href="league\?id=[^"]*"><bdi>([^<]*)/g)].map(([, name = '']) => name);

/** Where the link with this text leads. */
const linkIn = (page: string, text: string): string | undefined =>
  new RegExp(`href="([^"]*)"[^>]*>${text}<`).exec(page)?.[1]?.replaceAll('&amp;', '&');

const changeCity = (list: readonly object[], city: string, count: number): readonly object[] =>
  list.map((league, index) => (index < count ? { ...league, city } : league));

/** What a text browser shows, roughly. */
const textOf = (page: string): string =>
  page
    .replace(/<head>.*?<\/head>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

describe('the pages', () => {
  it('count all departures from the interface, and not only those that they list', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 57 }, (_, index) => [`field${index}`, 1]));
    const page = await serve([makeLeague('l1', unknown)]);
    const text = textOf(await page('/'));
    expect(text).toContain('57 format changes');
    // The row of `attention` names the first three.
    expect(text.match(/new field/g)).toHaveLength(3 + 20);
    expect(text).toContain('and 37 more in the table drift');
  });

  it('list the leagues page by page, and those that a search, a sport or a status selects', async () => {
    const golf = [
      makeLeague('m1', { sport: 'golf', status: 'inactive', city: 'Oslo 100%_' }),
      makeLeague('m2', { sport: 'golf' }),
    ];
    const { page, text } = await servePages([...makeLeagues(120), ...golf]);
    const first = await page('/leagues');
    expect(textOf(first)).toContain('1 to 50 of 122 leagues');
    expect(namesIn(first).slice(0, 3)).toEqual(['League l1', 'League l2', 'League l3']);
    expect([linkIn(first, 'Next →'), linkIn(first, 'Last ⇥')]).toEqual(['leagues?page=2', 'leagues?page=3']);
    const middle = await page('/leagues?page=2');
    expect([linkIn(middle, 'Last ⇥'), linkIn(middle, '⇤ First')]).toEqual([undefined, undefined]);
    const last = await page('/leagues?page=3');
    expect(textOf(last)).toContain('101 to 122 of 122 leagues');
    expect([linkIn(last, 'Next →'), linkIn(last, '⇤ First')]).toEqual([undefined, 'leagues']);
    for (const [query, names] of [
      ['q=LEAGUE M', ['League m1', 'League m2']],
      ['q=oslo 100%_', ['League m1']],
      ['q=l12', ['League l12', 'League l120']],
      ['sport=golf&status=inactive', ['League m1']],
      ['sport=golf&sort=priority', ['League m1', 'League m2']],
    ] as const)
      expect([query, namesIn(await page(`/leagues?${query.replace('%', '%25')}`))]).toEqual([query, names]);
    const sorts = first.match(/<th scope="col"[^>]*><a href="[^"]*">/g) ?? [];
    expect(sorts.map((head) => /sort=(\w+)"/.exec(head)?.[1] ?? 'priority')).toEqual([
      'name',
      'sport',
      'status',
      'priority',
      'changed',
    ]);
    expect(sorts.filter((head) => head.includes('aria-sort="ascending"'))).toEqual([sorts[3]]);
    expect(await text('/leagues?q=100%25_no_such')).toContain(
      'No leagues match &ldquo; 100%_no_such &rdquo;. Show all',
    );
  });

  it('show all fields of a league, its history, and the statement for it', async () => {
    const { bench, page, text } = await servePages([makeLeague("l'1")], [makeLeague("l'1", { city: 'Oslo', odd: 1 })]);
    const league = await page("/league?id=l'1");
    expect(textOf(league)).toMatch(/ 11 without a value /);
    expect(league.match(/<dt>/g)).toHaveLength(20 + 2);
    expect(textOf(league)).toMatch(/History .* changed city nothing &rarr; Oslo extra .* added In SQL/);
    const sql = /<code class="sql">([^<]*)/.exec(league)?.[1]?.replaceAll('&#39;', "'") ?? '';
    expect(bench.rows(sql)).toHaveLength(2);
    expect(await text('/league?id=nothing')).toContain('There is no league with this id');
  });

  it('show the changes by day, many of one kind in a poll as one line that leads to their pages', async () => {
    const list = makeLeagues(124).map((league, index) => (index === 0 ? { ...league, state: 'Ohio' } : league));
    const moved = list.map((league) => ({ ...league, city: 'Oslo', extra_word: 'x' }));
    const page = await serve(list, moved, changeCity(moved.slice(1), 'Rome', 1));
    const changes = await page('/changes');
    const text = textOf(changes);
    expect(text).toMatch(/ Today, \w+day \d+ \w+ 250 changes: 124 added · 125 changed · 1 removed /);
    expect(text).toMatch(/~ 124 changed: city 124, extra\.extra_word 124; League l1 , League l2 ,/);
    expect(namesIn(changes)).toHaveLength(2 + 3 + 3);
    expect(linkIn(changes, '121 more')).toBe('changes?poll=2&kind=changed');
    expect(namesIn(await page('/changes?kind=removed'))).toEqual(['League l1']);
    expect(textOf(await page('/leagues?q=Ohio&sport=golf'))).toContain('No leagues match');
    expect(linkIn(await page('/leagues?q=Ohio'), '1 removed league')).toBe('leagues?q=Ohio&status=removed');
    expect(textOf(await page('/'))).toMatch(/ 123 live &middot; 1 removed \(history kept\) 123 active active of live,/);
    const added = await page('/changes?poll=1&kind=added');
    expect(namesIn(added)).toHaveLength(100);
    expect(linkIn(added, 'of one poll ')).toBe('changes?kind=added');
    expect(namesIn(await page(`/${linkIn(added, 'Older →')}`))).toHaveLength(24);
  });

  it('show the changes of a sport, a field, a league and a day, and older ones', async () => {
    const list = makeLeagues(40).map((league, index) => (index === 0 ? { ...league, sport: 'golf' } : league));
    const { bench, page } = await servePages(
      list,
      ...Array.from({ length: 6 }, (_, nth) => changeCity(list, `City ${nth}`, 20)),
    );
    const lines = (html: string): number => html.match(/<li class="is-/g)?.length ?? 0;
    const newest = await page('/changes');
    expect(lines(newest)).toBe(100);
    const oldest = await page(`/${linkIn(newest, 'Older →')}`);
    expect([lines(oldest), linkIn(oldest, 'Older →')]).toEqual([21, undefined]);
    const counts = await Promise.all(
      ['sport=golf', 'field=city&league=l2', 'league=l40', 'sport=golf&kind=added', 'field=status', 'sport=%27'].map(
        async (query) => lines(await page(`/changes?${query}`)),
      ),
    );
    expect(counts).toEqual([7, 6, 1, 1, 0, 0]);
    const cities = await page('/changes?field=city');
    expect(lines(cities)).toBe(100);
    expect(lines(await page(`/${linkIn(cities, 'Older →')}`))).toBe(20);
    const [row] = bench.rows('SELECT substr(at, 1, 10) AS day FROM league_changes LIMIT 1');
    expect(lines(await page(`/changes?day=${row?.day}`))).toBe(100);
    const before = await page('/changes?day=2001-01-01&kind=changed');
    expect(textOf(before)).toContain('No changes. Show all');
    expect(linkIn(before, 'Today \u203a')).toBe(`changes?day=${row?.day}&kind=changed`);
  });

  it('stay small whatever the leagues hold, and give an id too long for a request no link', async () => {
    const sports = Array.from({ length: 100 }, (_, index) =>
      makeLeague(`l${index}`, { sport: `${index}${'<'.repeat(100_000)}` }),
    );
    const { page, text } = await servePages([...sports, makeLeague('x'.repeat(20_000), { league_name: 'Long id' })]);
    for (const path of ['/', '/leagues', '/leagues?page=3']) expect((await page(path)).length).toBeLessThan(1_000_000);
    const [first] = /leagues\?sport=\d[^"]*/.exec(await page('/')) ?? [];
    expect(await text(`/${first?.replaceAll('&amp;', '&')}`)).toContain('1 league ');
    const long = await page('/leagues?q=long');
    expect(long).toContain('Long id');
    expect(long).not.toContain('league?id=');
    // A search compares the text with every league.
    expect(await page(`/leagues?q=${'a'.repeat(5_000)}`)).toContain(` value="${'a'.repeat(100)}">`);
  });

  it('mark leagues whose removal is held, and say for how long', async () => {
    const page = await serve(makeLeagues(30), [...makeLeagues(10), '{"league_id":"l30"}']);
    const home = await page('/');
    expect(textOf(home)).toMatch(/rejected 1 element of the last list 1 &times; .*? since today \S+ League l30 /);
    expect(linkIn(home, '9 more')).toBe('leagues?status=held');
    const all = await page('/leagues');
    expect(all.match(/<span class="tag held">held<\/span>/g)).toHaveLength(19);
    const held = textOf(await page('/leagues?status=held'));
    expect(held.match(/active held 3 held (just now|\d+ s)/g)).toHaveLength(19);
    expect(textOf(all)).not.toMatch(/held \d+ s|held just now/);
  });

  it('spell flags as the service does, in changes as in fields', async () => {
    const page = await serve(
      [makeLeague('l1', { rankings: false, default_tournaments: true, priority: 1 })],
      [makeLeague('l1', { rankings: true, priority: 0 })],
    );
    expect(textOf(await page('/'))).toMatch(/ and 1 more /);
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
        makeLeague('l4', { league_name: '\u0001\u001B[31mred' }),
      ],
    );
    for (const path of ['/', '/leagues', '/changes', '/league?id=l1', '/league?id=l2', '/league?id=l3']) {
      const html = await page(path);
      expect(html).not.toMatch(/<i>raw|\[object|(?![\n\t])\p{Cc}/u);
      if (path !== '/leagues' && !path.endsWith('l2')) expect(html).toContain('&lt;i&gt;raw');
    }
    expect(textOf(await page('/leagues'))).toContain('4 leagues');
    expect(await page('/leagues')).toContain('\\u0001\\u001b[31mred');
  });
});

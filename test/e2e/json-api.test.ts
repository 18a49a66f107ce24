import { renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Bench } from '../support/bench.ts';
import { makeLeague } from '../support/leagues.ts';
import { DEADLINE_MS } from '../support/program.ts';
import { listLeagues } from '../support/service.ts';
import { serveLists } from '../support/status-server.ts';
import { stopInTime } from '../support/stopping.ts';

/** A worker that has polled these lists one after the other. */
async function serve(...polls: readonly (readonly unknown[])[]) {
  const served = await serveLists(...polls);
  const { bench, url } = served;
  const ask = async (path: string) => {
    const answer = await fetch(url + path);
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, json: JSON.parse(text) };
  };
  const { source, stale_at } = bench.rows('SELECT id AS source, stale_at FROM database_identity, freshness')[0] ?? {};
  const [last] = bench.rows('SELECT last_success_at AS as_of FROM freshness');
  /** How true the data is, in every answer. */
  const provenance = { source, as_of: last?.as_of, stale_at, up_to_date: true };
  return { ...served, ask, provenance };
}

/** What `changes --json` prints, line by line. */
async function printed(bench: Bench): Promise<readonly string[]> {
  const { stdout } = await bench.run(['changes', '--since', '0', '--json']);
  return stdout.trimEnd().split('\n');
}

const POLLS = [
  [makeLeague('l1', { city: 'Rome', rankings: false }), makeLeague('l2'), makeLeague('l3', { sport: 'golf' })],
  [makeLeague('l1', { city: 'Oslo', league_name: 'Renamed' }), makeLeague('l2'), makeLeague('l3', { sport: 'golf' })],
  [makeLeague('l1', { city: 'Oslo', league_name: 'Renamed' }), makeLeague('l3', { sport: 'golf' })],
];

const EXACT = `{"league_id":9007199254740993,"league_name":"\\u2028 \\"💡\\"","sport":"s","league_image":"i",
  "priority":9007199254740993,"status":"active","create_datetime":9007199254740993,"last_update_datetime":1.5,
  "default_tournaments":true,"rankings":false,"default_markets":[1.0,12345678901234567890,{"tiny":1e-400}],
  "odd":0.1000000000000000055511151231257827}`;

describe('/changes.json', () => {
  it('gives every change as changes --json prints it, page by page', async () => {
    const { bench, ask, provenance } = await serve(...POLLS, [...(POLLS[2] ?? []), EXACT]);
    const lines = await printed(bench);
    expect(lines).toHaveLength(6);
    const rest = (next: number) => `"next":${next},"more":${next < 6},${JSON.stringify(provenance).slice(1)}`;
    expect((await ask('/changes.json')).text).toBe(`{"changes":[${lines.join(',')}],${rest(6)}`);
    for (const limit of [2, 5, 6]) {
      const seen: string[] = [];
      for (let next = 0, more = true; more; ) {
        const { status, text, json } = await ask(`/changes.json?since=${next}&limit=${limit}`);
        const page = lines.slice(next, next + limit);
        expect([status, text]).toEqual([200, `{"changes":[${page.join(',')}],${rest(next + page.length)}`]);
        seen.push(...page);
        ({ next, more } = json);
      }
      expect(seen, `limit ${limit}`).toEqual(lines);
    }
    expect((await ask('/changes.json?since=6')).json).toEqual({ changes: [], next: 6, more: false, ...provenance });
  });

  it('gives 100 changes if no limit is set, and 409 and the end of the feed for a since beyond it', async () => {
    const { ask, provenance } = await serve(Array.from({ length: 101 }, (_, index) => makeLeague(`l${index}`)));
    const { changes, ...rest } = (await ask('/changes.json')).json;
    expect([changes.length, rest]).toEqual([100, { next: 100, more: true, ...provenance }]);
    for (const since of ['102', '00107', '99999999999999999999', '9'.repeat(400), '102&wait=9s']) {
      const { status, json } = await ask(`/changes.json?since=${since}`);
      expect([status, json], since).toEqual([409, { last_seq: 101, ...provenance }]);
    }
  });

  it('gives 409 if the change since has another time: the file was restored', async () => {
    const { bench, ask } = await serve(...POLLS);
    const [{ at } = { at: '' }] = bench.rows('SELECT at FROM league_changes WHERE seq = 4');
    expect((await ask(`/changes.json?since=4&at=${at}`)).json).toMatchObject({ changes: [{ seq: 5 }], next: 5 });
    for (const since of [3, 0]) expect((await ask(`/changes.json?since=${since}&at=${at}`)).status).toBe(409);
  });

  it('holds an answer until there is a change, and gives each reader each change once', async () => {
    const { ask, worker, service } = await serve(...POLLS);
    const began = performance.now();
    expect((await ask('/changes.json?since=5&wait=300ms')).json).toMatchObject({ changes: [], next: 5 });
    expect(performance.now() - began).toBeGreaterThan(290);
    const readers = Array.from({ length: 101 }, () => ask('/changes.json?since=5&wait=50s'));
    expect((await Promise.race(readers)).status).toBe(503);
    // Who need not wait is answered even then.
    expect((await ask('/changes.json?since=4&wait=50s')).json).toMatchObject({ changes: [{ seq: 5 }] });
    expect((await ask('/changes.json?since=6&wait=50s')).status).toBe(409);
    // A poll that changes nothing ends no wait.
    await worker.pollNow('unchanged');
    service.script('leagues', listLeagues([...(POLLS[2] ?? []), makeLeague('l4')]));
    worker.send('SIGHUP');
    // As soon as these are answered, others may wait.
    await expect
      .poll(async () => (await ask('/changes.json?since=6&wait=1ms')).status, { timeout: DEADLINE_MS })
      .toBe(200);
    const read = (await Promise.all(readers)).filter(({ status }) => status === 200);
    expect(read).toHaveLength(100);
    for (const { json } of read)
      expect([json.changes.map(({ seq }: { seq: number }) => seq), json.next]).toEqual([[6], 6]);
  });

  it('ends the waits at a stop', async () => {
    const { ask, worker } = await serve(...POLLS);
    const reader = ask('/changes.json?since=5&wait=50s');
    await ask('/changes.json?since=5&wait=100ms');
    expect((await stopInTime(worker)).code).toBe(0);
    expect((await reader).json).toMatchObject({ changes: [], next: 5 });
  });
});

describe('/leagues.json', () => {
  it('keeps every digit and character, and gives a league as the feed does', async () => {
    const { bench, ask, provenance } = await serve([EXACT]);
    const { text, json } = await ask('/leagues.json');
    const [row] = bench.rows('SELECT after FROM league_changes');
    const { first_seen_at, changed_at } = json.leagues[0];
    const times = `"first_seen_at":"${first_seen_at}","changed_at":"${changed_at}"`;
    const whole = `${String(row?.after).slice(0, -1)},${times},"held":false}`;
    expect(text).toBe(`{"leagues":[${whole}],"next":null,"more":false,${JSON.stringify(provenance).slice(1)}`);
    for (const part of ['"priority":9007199254740993', '12345678901234567890', '1e-400', '"default_tournaments":true'])
      expect(text).toContain(part);
  });

  it('pages by next, and filters by status and sport', async () => {
    const { ask } = await serve([
      ...Array.from({ length: 7 }, (_, index) => makeLeague(`l${index} &`)),
      makeLeague('m1', { status: 'inactive', sport: 'golf' }),
      makeLeague('m2', { sport: 'golf' }),
    ]);
    const idsOf = async (query: string) =>
      (await ask(`/leagues.json?${query}`)).json.leagues.map(({ league_id }: { league_id: string }) => league_id);
    const seen: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const { json } = await ask(`/leagues.json?limit=2&after=${encodeURIComponent(after)}`);
      expect(json.more).toBe(json.next !== null);
      seen.push(...json.leagues.map(({ league_id }: { league_id: string }) => league_id));
      after = json.next;
    }
    expect(seen).toEqual(['l0 &', 'l1 &', 'l2 &', 'l3 &', 'l4 &', 'l5 &', 'l6 &', 'm1', 'm2']);
    expect(await idsOf('sport=golf')).toEqual(['m1', 'm2']);
    expect(await idsOf('sport=golf&status=inactive&limit=1')).toEqual(['m1']);
    expect(await idsOf('status=inactive&sport=')).toEqual(['m1']);
    expect(await idsOf('status=removed')).toEqual([]);
    expect(await idsOf('after=m1')).toEqual(['m2']);
    expect(await idsOf("sport=x'%20OR%201")).toEqual([]);
  });
});

it('/changes.atom has an entry for each poll with changes, with the text of `changes`, newest first', async () => {
  const { bench, url } = await serve(...POLLS, [makeLeague('l1', { league_name: '<&"\u0001>' })]);
  const answer = await fetch(`${url}/changes.atom`);
  expect(answer.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
  const feed = await answer.text();
  const all = (pattern: RegExp) => [...feed.matchAll(pattern)].map(([, found]) => found);
  expect(all(/<title>(.+)<\/title>/g)).toEqual([
    'Changes of leagues',
    '1 changed, 1 removed',
    '1 removed',
    '1 changed',
    '3 added',
  ]);
  const [{ id } = { id: '' }] = bench.rows('SELECT id FROM database_identity');
  expect(all(/<id>urn:league-sync:(.+)<\/id>/g)).toEqual([id, ...[4, 3, 2, 1].map((run) => `${id}:${run}`)]);
  expect(feed).toContain('changed  League l1 (l1): league_name &#34;League l1&#34; -&#62; &#34;Renamed&#34;');
  expect(feed).toContain('&#60;&#38;\\&#34;\\u0001&#62;');
  expect(await (await fetch(`${url}/changes.atom`)).text()).toBe(feed);
});

describe('a page of JSON', () => {
  it('is 400 and names the parameter that is wrong', async () => {
    const { ask } = await serve([]);
    const limit = 'limit must be a whole number from 1 to 1000';
    const since = 'since must be a whole number from 0';
    for (const [path, error] of [
      ['changes.json?limit=0', limit],
      ['changes.json?limit=1001', limit],
      ['changes.json?limit=', limit],
      ['changes.json?since=-1', since],
      ['changes.json?since=', since],
      ['changes.json?since=2026-11-20', since],
      ['changes.json?since=1&since=2', 'since is given more than once'],
      ['changes.json?sinse=1', 'there is no parameter sinse, only since, at, limit, wait'],
      ['changes.json?since=1&at=2026-11-20', 'at must be the at of a change, such as 2026-11-20T12:00:00.000Z'],
      ['changes.json?at=2026-02-30T12:00:00.000Z', 'at must be the at of a change, such as 2026-11-20T12:00:00.000Z'],
      ['changes.json?wait=51s', 'wait must be a duration such as 25s, at most 50s'],
      ['leagues.json?since=1', 'there is no parameter since, only status, sport, after, limit'],
    ]) {
      const { status, json, headers } = await ask(`/${path}`);
      expect([status, json, headers.get('content-type')], path).toEqual([400, { error }, 'application/json']);
    }
  });

  it('ends early where rows are huge, and the next ones have the rest', async () => {
    const ids = ['l1', 'l2', 'l3', 'l4', 'l5'];
    const { ask } = await serve(ids.map((id) => makeLeague(id, { city: 'x'.repeat(700_000) })));
    const seen: string[] = [];
    for (let path: string | undefined = '/changes.json?limit=1000&since=0'; path !== undefined; ) {
      const { text, json } = await ask(path);
      expect(text.length).toBeLessThan(2_000_000);
      seen.push(...json.changes.map(({ league_id }: { league_id: string }) => league_id));
      path = json.more ? `/changes.json?limit=1000&since=${json.next}` : undefined;
    }
    expect(seen).toEqual(ids);
    const { leagues, next, more } = (await ask('/leagues.json?limit=1000')).json;
    expect([leagues.length, next, more]).toEqual([2, 'l2', true]);
  });

  it('is 503 and says why if the database cannot be read', async () => {
    const { bench, ask } = await serve(...POLLS);
    renameSync(bench.database, `${bench.database}.away`);
    for (const path of ['/changes.json', '/leagues.json', '/changes.json?since=99']) {
      const { status, json } = await ask(path);
      expect([status, json]).toEqual([503, { error: expect.stringContaining('was deleted, moved or replaced') }]);
    }
    renameSync(`${bench.database}.away`, bench.database);
    expect((await ask('/changes.json')).status).toBe(200);
  });
});

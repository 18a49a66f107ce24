import { describe, expect, it } from 'vitest';
import { describeReport } from '../../src/sync/report.ts';
import { createWallClock } from '../support/clock.ts';
import { dumpTables, execute } from '../support/database.ts';
import { DAY, MINUTE } from '../support/durations.ts';
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { fail, listLeagues, type Reply, reset, type Service } from '../support/service.ts';
import { openBench, type ServedBench, setUpBench } from '../support/worker-resources.ts';

const ETAG = '"v1"';
const LAST_MODIFIED = 'Fri, 20 Nov 2026 11:00:00 GMT';

function listWith(elements: readonly unknown[], headers: Readonly<Record<string, string>> = { etag: ETAG }): Reply {
  return listLeagues(elements, {}, headers);
}

const UNMODIFIED: Reply = { status: 304 };

/** The conditional headers of the last leagues request. */
function conditionsIn(service: Service) {
  const { 'if-none-match': etag, 'if-modified-since': since } = service.seen('leagues').at(-1)?.headers ?? {};
  return { etag, since };
}
const etagsIn = (service: Service) => service.seen('leagues').map(({ headers }) => headers['if-none-match']);
const NONE = { etag: undefined, since: undefined };

/** Another worker on the same database, for one poll. */
async function pollAs({ folder, service }: ServedBench, settings: Readonly<Record<string, string>>, reply: Reply) {
  service.script('leagues', reply);
  await using other = await openBench({ folder, url: service.url, settings });
  return await other.poll();
}

describe('a validator of the list', () => {
  it.each([
    [{ etag: ETAG }, { etag: ETAG, since: undefined }],
    [{ 'last-modified': LAST_MODIFIED }, { etag: undefined, since: LAST_MODIFIED }],
    [
      { etag: ETAG, 'last-modified': LAST_MODIFIED },
      { etag: ETAG, since: LAST_MODIFIED },
    ],
    [{}, NONE],
  ])('is sent back as it came: %o', async (headers, conditions) => {
    await using bench = await setUpBench({ leagues: listWith(makeLeagues(2), headers) });
    await bench.poll();
    expect(conditionsIn(bench.service)).toEqual(NONE);
    await bench.poll();
    expect(conditionsIn(bench.service)).toEqual(conditions);
  });

  it('makes 304 an unchanged poll that writes only its row, and is kept for the next one', async () => {
    await using bench = await setUpBench({ leagues: [listWith(makeLeagues(3)), UNMODIFIED] });
    await bench.poll();
    const { runs: _, ...before } = dumpTables(bench.path);
    for (const _poll of [1, 2]) {
      const report = await bench.poll();
      expect(report).toMatchObject({ outcome: 'unchanged', counts: { received: 0, removed: 0 }, wrote: false });
      expect(describeReport(report)).toMatch(/^leagues: unchanged: the service says that the list is the same \(/);
      expect(conditionsIn(bench.service).etag).toBe(ETAG);
    }
    const { runs, ...after } = dumpTables(bench.path);
    expect(after).toEqual(before);
    expect(runs?.at(-1)).toMatchObject({ outcome: 'unchanged', http_status: 304n, etag: ETAG, error_kind: null });
    expect(bench.rows('SELECT last_outcome, consecutive_failures FROM freshness')).toEqual([
      { last_outcome: 'unchanged', consecutive_failures: 0 },
    ]);
  });

  it('outlives a failed poll, a rejected token and a restart', async () => {
    await using bench = await setUpBench();
    const { service } = bench;
    service.script('leagues', listWith(makeLeagues(2)), { status: 302 }, fail(401), listWith(makeLeagues(2)));
    await bench.poll();
    expect((await bench.poll()).outcome).toBe('failed');
    expect((await bench.poll()).outcome).toBe('unchanged');
    expect(etagsIn(service)).toEqual([undefined, ETAG, ETAG, undefined]);
    await bench.place[Symbol.asyncDispose]();
    expect((await pollAs(bench, {}, UNMODIFIED)).outcome).toBe('unchanged');
    expect(conditionsIn(service).etag).toBe(ETAG);
  });
});

describe('no conditional request is sent', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['another account', { USERNAME: 'someone-else' }],
    ['another scope', { STATUS: 'active' }],
    ['other quiet fields', { QUIET_FIELDS: 'priority' }],
  ])('by %s', async (_, settings) => {
    await using bench = await setUpBench({ leagues: listWith(makeLeagues(2)) });
    await bench.poll();
    await bench.place[Symbol.asyncDispose]();
    await pollAs(bench, settings, listWith(makeLeagues(2)));
    expect(conditionsIn(bench.service)).toEqual(NONE);
  });

  it('by another version of the program', async () => {
    await using bench = await setUpBench({ leagues: listWith(makeLeagues(2)) });
    await bench.poll();
    execute(bench.path, "UPDATE runs SET program_version = '0.0.1'");
    await bench.poll();
    expect(conditionsIn(bench.service)).toEqual(NONE);
  });

  it('after a poll of another scope has changed the leagues', async () => {
    await using bench = await setUpBench();
    const inactive = makeLeague('x', { status: 'inactive' });
    bench.service.script('leagues', listWith([...makeLeagues(2), inactive]));
    await bench.poll();
    await bench.place[Symbol.asyncDispose]();
    await pollAs(bench, { STATUS: 'active' }, listWith(makeLeagues(3), { etag: '"active"' }));
    const report = await pollAs(bench, {}, listWith([...makeLeagues(2), inactive]));
    expect(conditionsIn(bench.service)).toEqual(NONE);
    expect(report).toMatchObject({ outcome: 'changed', counts: { removed: 1, unchanged: 3 } });
  });

  it('while a removal is held, so that an acceptance takes effect', async () => {
    await using bench = await setUpBench({ leagues: [listWith(makeLeagues(9)), listWith([], { etag: '"none"' })] });
    await bench.poll();
    expect((await bench.poll()).outcome).toBe('held');
    expect((await bench.poll()).outcome).toBe('held');
    expect(conditionsIn(bench.service)).toEqual(NONE);
    execute(bench.path, "UPDATE held_removals SET accepted_at = '2026-11-20T12:00:00.000Z'");
    expect(await bench.poll()).toMatchObject({ counts: { removed: 9 } });
    expect(conditionsIn(bench.service)).toEqual(NONE);
    await bench.poll();
    expect(conditionsIn(bench.service).etag).toBe('"none"');
  });

  it('once a day, in case the service never changes its validators', async () => {
    let now = Date.parse('2026-11-20T12:00:00.000Z');
    await using bench = await setUpBench(
      { leagues: [listWith(makeLeagues(2)), UNMODIFIED] },
      { clock: createWallClock(() => now) },
    );
    await bench.poll();
    now += DAY - 60_000;
    await bench.poll();
    expect(conditionsIn(bench.service).etag).toBe(ETAG);
    bench.service.script('leagues', listWith(makeLeagues(3)), UNMODIFIED);
    now += 120_000;
    expect(await bench.poll()).toMatchObject({ outcome: 'changed', counts: { added: 1 } });
    expect(conditionsIn(bench.service)).toEqual(NONE);
    await bench.poll();
    expect(conditionsIn(bench.service).etag).toBe(ETAG);
  });

  it('if the clock was set back since the list was received', async () => {
    let now = Date.parse('2026-11-20T12:00:00.000Z');
    await using bench = await setUpBench({ leagues: listWith(makeLeagues(2)) }, { clock: createWallClock(() => now) });
    await bench.poll();
    now -= 60_000;
    await bench.poll();
    expect(conditionsIn(bench.service)).toEqual(NONE);
  });

  it('if it is too long for a header, and never for the profile', async () => {
    await using bench = await setUpBench({ leagues: listWith(makeLeagues(2), { etag: `"${'x'.repeat(2_000)}"` }) });
    await bench.poll();
    await bench.poll();
    expect(conditionsIn(bench.service)).toEqual(NONE);
    expect(bench.rows('SELECT count(etag) AS kept FROM runs')).toEqual([{ kept: 0 }]);
    bench.service.script('leagues', listWith(makeLeagues(2)));
    await bench.poll();
    await bench.pollProfile();
    expect(bench.service.seen('profile').at(-1)?.headers['if-none-match']).toBeUndefined();
  });
});

describe.concurrent('conditions that a service cannot handle', () => {
  const LIST = listWith(makeLeagues(2));
  /** Answers a conditional request with this, and any other with the list. */
  const unlessPlain =
    (reply: Reply): Reply =>
    (_, { headers }) =>
      headers['if-none-match'] === undefined ? LIST : reply;

  it.each<[string, Reply, number]>([
    ['412', { status: 412 }, 1],
    ['403', { status: 403 }, 2],
    ['200 and result=fail', fail(200), 2],
  ])('(%s) fail no poll, and are not sent for a day, also by other workers', async (_, reply, lasting) => {
    let now = Date.parse('2026-11-20T12:00:00.000Z');
    const clock = createWallClock(() => now);
    await using bench = await setUpBench({ leagues: unlessPlain(reply) }, { clock });
    const { service } = bench;
    for (let poll = 0; poll <= lasting; poll += 1) {
      now += MINUTE;
      expect((await bench.poll()).error).toBeUndefined();
    }
    const tries = Array(lasting).fill([ETAG, undefined]).flat();
    expect(service.seen('login').length).toBeLessThanOrEqual(1 + lasting);
    for (const _quarter of [1, 2, 3]) {
      now += DAY / 4;
      await bench.poll();
    }
    expect(etagsIn(service)).toEqual([undefined, ...tries, undefined, undefined, undefined]);
    await bench.place[Symbol.asyncDispose]();
    await using other = await openBench({ folder: bench.folder, url: service.url, clock });
    for (const wait of [DAY / 4 + MINUTE, MINUTE]) {
      now += wait;
      await other.poll();
    }
    expect(etagsIn(service).slice(-3)).toEqual([undefined, ETAG, undefined]);
  });

  it('are sent on if no two polls in a row needed a retry', async () => {
    await using bench = await setUpBench();
    const { service } = bench;
    service.script('leagues', fail(503), LIST, fail(503), LIST, LIST, reset(), LIST, UNMODIFIED);
    for (let poll = 0; poll < 5; poll += 1) expect((await bench.poll()).error).toBeUndefined();
    expect(etagsIn(service)).toEqual([undefined, undefined, ETAG, undefined, ETAG, ETAG, undefined, ETAG]);
  });
});

it('a poll fails with a database error if the validators cannot be read', async () => {
  await using bench = await setUpBench({ leagues: listWith(makeLeagues(2)) });
  await bench.poll();
  execute(bench.path, 'ALTER TABLE held_removals RENAME TO away');
  expect(await bench.poll()).toMatchObject({ outcome: 'failed', error: { kind: 'database' } });
  expect(bench.rows('SELECT error_kind FROM runs ORDER BY id DESC LIMIT 1')).toEqual([{ error_kind: 'database' }]);
});

it('an unconditional request answered with 304 or a part (206) fails the poll, and the next one requests the list', async () => {
  const list = listWith(makeLeagues(2));
  await using bench = await setUpBench({ leagues: [UNMODIFIED, { ...Object(list), status: 206 }, list] });
  for (const httpStatus of [304, 206])
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', error: { kind: 'contract', httpStatus } });
  expect((await bench.poll()).outcome).toBe('changed');
});

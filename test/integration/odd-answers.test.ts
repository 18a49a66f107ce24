import { describe, expect, it } from 'vitest';
import type { ContractError } from '../../src/errors.ts';
import type { JsonValue } from '../../src/json.ts';
import { parseLeagues } from '../../src/service/league.ts';
import { failed, granted, leaguesAnswer, type Reply, startScriptedService } from '../support/scripted-service.ts';
import { type Bench, makeFolder, makeLeague, openBench, withDatabase } from '../support/workplace.ts';

const HOUR_MS = 3_600_000;
const GOOD = leaguesAnswer([makeLeague('a')]);
/** The head of an answer and the beginning of a body that never goes on. */
const stalled =
  (status: number, headers: Readonly<Record<string, string>> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-length': '1000', ...headers });
    response.write('{"result":"fail"');
  };
/** An attempt that must run out of time, with room for a busy machine. */
const SOON = { ATTEMPT_TIMEOUT: '500ms' };

type Stage = { readonly service: Awaited<ReturnType<typeof startScriptedService>>; readonly bench: Bench };

async function withBench(check: (stage: Stage) => Promise<void>, settings = {}): Promise<void> {
  using folder = makeFolder();
  await using service = await startScriptedService();
  await using bench = await openBench({ folder, url: service.url, settings });
  await check({ service, bench });
}

describe.concurrent('a failure whose body never ends counts by its head', () => {
  it('so that a login with 401 is refused, and tried once', async () => {
    await withBench(async ({ service, bench }) => {
      service.script('login', stalled(401));
      expect(await bench.poll()).toMatchObject({ outcome: 'failed', error: { kind: 'credentials' } });
      expect(service.seen('login')).toHaveLength(1);
    }, SOON);
  });

  it('so that a token rejected with 401 is replaced, and the poll goes on', async () => {
    await withBench(async ({ service, bench }) => {
      service.script('leagues', stalled(401), GOOD);
      expect(await bench.poll()).toMatchObject({ outcome: 'changed', attempts: 2 });
      expect(service.seen('login')).toHaveLength(2);
    }, SOON);
  });

  it('so that the pause that a renewal asks for is known to the next worker', async () => {
    using folder = makeFolder();
    await using service = await startScriptedService();
    service.script('login', stalled(503, { 'retry-after': '3600' }));
    {
      await using bench = await openBench({ folder, url: service.url, settings: SOON });
      await bench.place.session.token('leagues', new AbortController().signal).catch(() => undefined);
    }
    await using bench = await openBench({ folder, url: service.url, settings: SOON });
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 0, error: { kind: 'status' } });
    expect(service.requests).toHaveLength(1);
  });

  it('but a success without its body is none', async () => {
    await withBench(
      async ({ service, bench }) => {
        service.script('leagues', stalled(200));
        const report = await bench.poll();
        expect(report).toMatchObject({ outcome: 'failed', httpStatus: 200, error: { kind: 'timeout' } });
      },
      { ATTEMPT_TIMEOUT: '200ms', RUN_TIMEOUT: '1s' },
    );
  });
});

describe.concurrent('a Retry-After', () => {
  const asksFor = (status: number, body: string): Reply => ({ status, headers: { 'retry-after': '3600' }, body });
  const FAIL = '{"result":"fail","message":"later"}';

  it.each(['leagues', 'login'] as const)('beside result=fail and 200 is kept to by all, at the %s', async (kind) => {
    await withBench(async ({ service, bench }) => {
      service.script(kind, asksFor(200, FAIL));
      expect(await bench.poll()).toMatchObject({ outcome: 'failed' });
      const sent = service.requests.length;
      bench.place.session.retryNow();
      expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 0, error: { kind: 'status' } });
      expect(service.requests).toHaveLength(sent);
    });
  });

  it('of a 304 is known to the next worker', async () => {
    using folder = makeFolder();
    await using service = await startScriptedService();
    const { body = '' } = { body: '', ...(typeof GOOD === 'object' ? GOOD : {}) };
    service.script('leagues', { headers: { etag: '"1"' }, body }, asksFor(304, ''));
    {
      await using bench = await openBench({ folder, url: service.url });
      await bench.poll();
      expect(await bench.poll()).toMatchObject({ outcome: 'unchanged', httpStatus: 304 });
    }
    const sent = service.requests.length;
    await using bench = await openBench({ folder, url: service.url });
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 0 });
    expect(service.requests).toHaveLength(sent);
  });

  it('is told in the words of the failure, and ends when its row says, however slowly the body comes', async () => {
    await withBench(async ({ service, bench }) => {
      service.script('leagues', (response) => {
        response.writeHead(503, { 'retry-after': '3600' });
        response.write('{');
        setTimeout(() => response.end('}'), 300);
      });
      const { error } = await bench.poll();
      const [row] = bench.rows('SELECT not_before FROM runs');
      const inForce = bench.place.pause.until();
      expect(Math.abs(Date.parse(String(row?.not_before)) - inForce)).toBeLessThan(50);
      expect(error?.message).toContain(`It asks not to be called before ${String(row?.not_before).slice(0, 19)}`);
    });
  });

  it('that a clock of the future wrote down comes to an end', async () => {
    using folder = makeFolder();
    await using service = await startScriptedService();
    service.script('leagues', failed(503, { 'retry-after': '3600' }), GOOD);
    {
      await using bench = await openBench({ folder, url: service.url });
      await bench.poll();
    }
    const YEARS = '+10 years';
    withDatabase(folder.file('leagues.db'), (db) => {
      const later = (column: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, '${YEARS}')`;
      db.exec(`UPDATE runs SET started_at = ${later('started_at')}, not_before = ${later('not_before')}`);
    });
    const left = async (): Promise<number> => {
      await using bench = await openBench({ folder, url: service.url });
      return bench.place.pause.until() - Date.now();
    };
    const first = await left();
    expect(first).toBeGreaterThan(HOUR_MS / 2);
    expect(first).toBeLessThanOrEqual(HOUR_MS + 1_000);
    withDatabase(folder.file('leagues.db'), (db) => {
      db.exec("UPDATE runs SET not_before = strftime('%Y-%m-%dT%H:%M:%fZ', not_before, '-59 minutes')");
    });
    expect(await left()).toBeLessThan(120_000);
  });
});

it.each([
  ['percent-encoded', 'https://%61ccess-token-1.evil.example/'],
  ['broken by a tab', 'https://access-to\tken-1.evil.example/'],
])('a token in the host of a redirect is not repeated, %s', async (_, location) => {
  await withBench(async ({ service, bench }) => {
    service.script('login', granted({ access_token: 'access-token-1' }));
    service.script('leagues', (response) => {
      response.socket?.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
    });
    const { error } = await bench.poll();
    expect(error?.message).toContain('was redirected (status 302); redirects are not followed');
    expect(error?.message).not.toContain('access-token');
  });
});

it.each(['constructor', '__proto__'])('an encoding by the name of "%s" is none', async (encoding) => {
  await withBench(async ({ service, bench }) => {
    service.script('leagues', { headers: { 'content-encoding': encoding }, body: '{"leagues":[]}' });
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 1, error: { kind: 'contract' } });
  });
});

describe('an answer of next to nothing, many times over', () => {
  it.each<[string, string]>([
    ['objects', '{},'],
    ['lists', '[],'],
    ['numbers', '1,'],
  ])('is refused without much ado: %s', async (_, element) => {
    const body = `{"message":"ok","leagues":[${element.repeat(12_000_000 / element.length)}{}],"timestamp":null}`;
    await withBench(async ({ service, bench }) => {
      service.script('leagues', { body });
      const report = await bench.poll();
      expect(report).toMatchObject({ outcome: 'failed', attempts: 1, error: { kind: 'contract' } });
      expect(report.error?.message.length).toBeLessThan(1_000);
    });
  });

  it('of fields that nobody knows is read, and drift names some of them', async () => {
    const fields = Array.from({ length: 200_000 }, (_, nth) => `"field ${nth}":1`);
    await withBench(async ({ service, bench }) => {
      service.script('leagues', { body: `{"message":"ok","leagues":[],"timestamp":null,${fields.join()}}` });
      expect(await bench.poll()).toMatchObject({ outcome: 'unchanged' });
      expect(bench.rows('SELECT count(*) AS n FROM drift')).toEqual([{ n: 100 }]);
    });
  });

  it('names the first elements and their places', () => {
    const sent = Array.from({ length: 200_000 }, (_, nth) => (nth < 50_000 ? makeLeague(`l${nth}`) : 7)) as JsonValue[];
    const read = () => parseLeagues({ leagues: sent }, 'all');
    expect(read).toThrow(
      expect.objectContaining<Partial<ContractError>>({
        message: expect.stringMatching(
          /^150000 of 200000 leagues cannot be stored, more than half, so nothing was applied: leagues\[50000\] is not an object; leagues\[50001\] is not an object; leagues\[50002\]/,
        ),
      }),
    );
  });
});

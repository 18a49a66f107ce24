import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { columnsOf } from '../../src/store/columns.ts';
import { createReadAhead, READER_NAME, type ReadLeague } from '../../src/sync/read-ahead.ts';
import { createElement, listingOf, parseElements, VERSION } from '../support/unit-league.ts';

/** More than a thread reads ahead. */
const MANY = 10_000;

/** However busy the machine is. */
const LONG_MS = 60_000;

type Reading = {
  /** What is different of what the thread is told. */
  readonly change?: object;
  readonly longestWaitMs?: number;
  readonly isTimeUp?: () => boolean;
  /** Called with each batch. */
  readonly use?: (batch: readonly ReadLeague[]) => void;
};

function readAll(
  json: string,
  { change, longestWaitMs = LONG_MS, isTimeUp = () => false, use = () => undefined }: Reading = {},
) {
  const { elements } = listingOf(json);
  if (elements === undefined) throw new Error('There is no list.');
  const leagues: ReadLeague[] = [];
  using ahead = createReadAhead({ longestWaitMs });
  const share = () => ({ ...elements.share(), ...change });
  const found = ahead.read({ ...elements, share }, { programVersion: VERSION, isTimeUp }, (batch) => {
    use(batch);
    leagues.push(...batch);
  });
  return { leagues, found };
}

function writeMany(): string {
  return JSON.stringify({ leagues: Array.from({ length: MANY }, () => createElement({})) });
}

/** The threads that read, as the system sees them. */
function countThreads(): number {
  return globSync('/proc/self/task/*/comm').filter((file) => nameIn(file) === READER_NAME).length;
}

function nameIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

describe('a list that a thread reads', () => {
  it('is the same as one that is read here, in the same order', () => {
    const elements = Array.from({ length: MANY }, (_, index) =>
      createElement({ league_id: `l${index}`, priority: index }),
    );
    const here = parseElements([...elements, { no: 'league' }]);
    const { leagues, found } = readAll(JSON.stringify({ leagues: [...elements, { no: 'league' }] }));
    const asRead = [...here.leagues.values()].map((one) => ({
      columns: columnsOf(one.league()),
      hash: one.hash,
      json: one.json(),
    }));
    expect(leagues).toEqual(asRead);
    expect(found).toEqual({ rejections: here.rejections, drift: here.drift });
  });

  it('comes to nothing where it cannot be read', () => {
    const { found } = readAll(`{"leagues":[${JSON.stringify(createElement({}))},{"league_id" 1}]}`);
    expect(found).toBeUndefined();
  });

  it('comes to nothing where the thread dies', () => {
    expect(readAll('{"leagues":[1]}', { change: { places: null }, longestWaitMs: 500 }).found).toBeUndefined();
  });

  it('comes to nothing where it cannot be handed over', () => {
    expect(readAll('{"leagues":[1]}', { change: { sought: () => undefined } }).found).toBeUndefined();
  });

  it('comes to nothing where it is waited for too long in all, though never for long', () => {
    const league = createElement(Object.fromEntries(Array.from({ length: 50 }, (_, field) => [`f${field}`, 'x'])));
    const json = `{"leagues":[${Array.from({ length: 4 * MANY }, () => JSON.stringify(league)).join(',')}]}`;
    expect(readAll(json, { longestWaitMs: 300 }).found).toBeUndefined();
  });

  it('comes to nothing when time is up', () => {
    let batches = 0;
    const { found } = readAll(writeMany(), {
      isTimeUp: () => batches === 3,
      use: () => {
        batches += 1;
      },
    });
    expect([found, batches]).toEqual([undefined, 3]);
  });

  it.runIf(existsSync('/proc/self/task'))('leaves no thread behind where whoever takes it fails', async () => {
    const noneIsLeft = () => expect.poll(countThreads, { timeout: LONG_MS }).toBe(0);
    await noneIsLeft();
    const use = (): void => {
      expect(countThreads()).toBe(1);
      throw new Error('the disk is full');
    };
    expect(() => readAll(writeMany(), { use })).toThrow('the disk is full');
    await noneIsLeft();
  });
});

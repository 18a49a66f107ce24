import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { columnsOf } from '../../src/store/columns.ts';
import { createReadAhead, READER_NAME, type ReadLeague } from '../../src/sync/read-ahead.ts';
import { createElement, listingOf, parseElements, VERSION } from '../support/unit-league.ts';

/** More than a thread reads ahead. */
const MANY = 10_000;

function readAll(json: string, change = {}, use = (_: ReadLeague): unknown => undefined) {
  const listing = listingOf(json);
  if (listing.elements === undefined) throw new Error('There is no list.');
  const list = { ...listing.elements.share(), ...change };
  const leagues: ReadLeague[] = [];
  const elements = { ...listing.elements, share: () => list };
  using ahead = createReadAhead();
  const found = ahead.read(elements, { programVersion: VERSION, isTimeUp: () => false }, (batch) => {
    batch.forEach(use);
    leagues.push(...batch);
  });
  return { leagues, found };
}

const NAMES = '/proc/self/task/*/comm';

/** Those that read, as the system sees them. */
function countThreads(): number {
  return globSync(NAMES).filter((file) => readFileSync(file, 'utf8').trim() === READER_NAME).length;
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
    expect(readAll('{"leagues":[1]}', { places: null }).found).toBeUndefined();
  });

  it('comes to nothing where there is no memory to share', () => {
    const { elements = undefined } = listingOf('{"leagues":[1]}');
    if (elements === undefined) throw new Error('There is no list.');
    const share = (): never => {
      throw new RangeError('Array buffer allocation failed');
    };
    using ahead = createReadAhead();
    const options = { programVersion: VERSION, isTimeUp: () => false };
    expect(ahead.read({ ...elements, share }, options, () => undefined)).toBeUndefined();
  });

  it('comes to nothing when time is up', () => {
    const json = JSON.stringify({ leagues: Array.from({ length: MANY }, () => createElement({})) });
    let batches = 0;
    const { elements } = listingOf(json);
    if (elements === undefined) throw new Error('There is no list.');
    using ahead = createReadAhead();
    const options = { programVersion: VERSION, isTimeUp: () => batches === 3 };
    const found = ahead.read(elements, options, () => {
      batches += 1;
    });
    expect([found, batches]).toEqual([undefined, 3]);
  });

  it.runIf(existsSync('/proc/self/task'))('leaves no thread behind where whoever takes it fails', async () => {
    await expect.poll(countThreads).toBe(0);
    const json = JSON.stringify({ leagues: Array.from({ length: MANY }, () => createElement({})) });
    const failing = (): void => {
      expect(countThreads()).toBe(1);
      throw new Error('the disk is full');
    };
    expect(() => readAll(json, {}, failing)).toThrow('the disk is full');
    await expect.poll(countThreads).toBe(0);
  });
});

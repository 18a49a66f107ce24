import { describe, expect, it } from 'vitest';
import { RefusedError } from '../../src/errors.ts';
import { assertEarlier, type MirrorState } from '../../src/mirror/state.ts';
import { thrownBy } from '../support/unit-error.ts';

const AT = '2026-11-20T12:00:00.000Z';
const MIRROR: MirrorState = { database: 'one', databasePath: 'host:/one.db', seq: 10, at: AT };

const check = (mirror: Partial<MirrorState>, lastSeq: number, atCursor?: string) =>
  assertEarlier(
    { ...MIRROR, ...mirror },
    { path: '/one.db', databaseId: () => 'one', lastSeq: () => lastSeq, changedAt: () => atCursor },
  );

describe('a mirror', () => {
  it('may be empty, or end with a change of the file', () => {
    expect(() => check({ seq: 0, at: null }, 5)).not.toThrow();
    expect(() => check({}, 10, AT)).not.toThrow();
    expect(() => check({}, 12, AT)).not.toThrow();
  });

  it.each<[string, Partial<MirrorState>, number, string | undefined, RegExp]>([
    [
      'of another database',
      { database: 'two', databasePath: 'host:/two.db' },
      10,
      AT,
      /two at host:\/two\.db.+one at \/one\.db/,
    ],
    ['that is ahead', { seq: 11 }, 10, undefined, /ahead of \/one\.db: it has change 11.+ends with 10.+mirror rebuild/],
    [
      'with another change at its end',
      {},
      10,
      '2026-11-20T12:00:00.001Z',
      /differ: change 10 is not the same.+mirror rebuild/,
    ],
  ])('%s is refused', (_, mirror, lastSeq, atCursor, message) => {
    const error = thrownBy(() => check(mirror, lastSeq, atCursor));
    expect(error).toBeInstanceOf(RefusedError);
    expect((error as RefusedError).message).toMatch(message);
  });
});

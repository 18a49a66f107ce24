import { describe, expect, it } from 'vitest';
import { DatabaseError } from '../../src/errors.ts';
import { BATCH_CHANGES, planBatch } from '../../src/mirror/batch.ts';
import type { DatabaseState, MirrorState } from '../../src/mirror/state.ts';
import { thrownBy } from '../support/unit-error.ts';

const AT = '2026-11-20T12:00:00.000Z';
const MIRROR: MirrorState = { database: 'one', databasePath: 'host:/one.db', seq: 10, at: AT };
const FILE: DatabaseState = { id: 'one', path: '/one.db', lastSeq: 10, atCursor: AT };

const plan = (mirror: Partial<MirrorState>, file: Partial<DatabaseState>, ends: readonly number[] = []) =>
  planBatch(
    { ...MIRROR, ...mirror },
    { ...FILE, ...file },
    (seq) => ends.find((end) => end >= seq + BATCH_CHANGES) ?? file.lastSeq ?? 10,
  );

describe('the next batch of the mirror', () => {
  it('is empty at the end of the feed', () => {
    expect(plan({}, {})).toEqual({ after: 10, last: 10, isLast: true });
    expect(plan({ seq: 0, at: null }, { lastSeq: 0, atCursor: undefined })).toEqual({
      after: 0,
      last: 0,
      isLast: true,
    });
  });

  it('ends with a run, and is the last one only at the end', () => {
    const ends = [4_000, 9_000, 9_001];
    expect(plan({}, { lastSeq: 9_001 }, ends)).toEqual({ after: 10, last: 9_000, isLast: false });
    expect(plan({ seq: 9_000 }, { lastSeq: 9_001 }, [9_001])).toEqual({ after: 9_000, last: 9_001, isLast: true });
  });

  it.each([
    [
      'another database',
      { database: 'two', databasePath: 'host:/two.db' },
      {},
      /two at host:\/two\.db.+one at \/one\.db/,
    ],
    [
      'a mirror that is ahead',
      { seq: 11 },
      { atCursor: undefined },
      /ahead of \/one\.db: it has change 11.+ends with 10.+mirror rebuild/,
    ],
    [
      'another change at the cursor',
      {},
      { atCursor: '2026-11-20T12:00:00.001Z', lastSeq: 12 },
      /differ: change 10.+mirror rebuild/,
    ],
  ])('is refused for %s', (_, mirror, file, message) => {
    const error = thrownBy(() => plan(mirror, file));
    expect(error).toBeInstanceOf(DatabaseError);
    expect((error as DatabaseError).message).toMatch(message);
  });
});

import { expect, it } from 'vitest';
import { readExactRows } from '../support/database.ts';
import { makeLeague } from '../support/leagues.ts';
import { setUpBench } from '../support/worker-resources.ts';

/** What other values become is tested in unit/coerce-fields, and that the database keeps them in test/rigs/model. */
it.each([
  ['9007199254740993', 9_007_199_254_740_993n],
  // Its bits as a double say 1234567890123450112.
  ['1.23456789012345E18', 1_234_567_890_123_450_000n],
])('no digit of the number %s is lost on its way into the database and back', async (sent, stored) => {
  await using bench = await setUpBench();
  const withNumber = (league_name: string) =>
    JSON.stringify(makeLeague('a', { league_name, last_update_datetime: '-' })).replace('"-"', sent);
  expect(await bench.pollWith([withNumber('One')])).toMatchObject({ outcome: 'changed' });
  for (const relation of ['leagues', 'league_versions'])
    expect(readExactRows(bench.path, `SELECT last_update_datetime AS value FROM ${relation}`)).toEqual([
      { value: stored },
    ]);
  expect(await bench.pollWith([withNumber('One')])).toMatchObject({ outcome: 'unchanged' });
  await bench.pollWith([withNumber('Another')]);
  expect(bench.rows('SELECT field FROM league_field_changes')).toEqual([{ field: 'league_name' }]);
});

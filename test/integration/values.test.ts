import { expect, it } from 'vitest';
import { readExactRows } from '../support/database.ts';
import { makeLeague } from '../support/leagues.ts';
import { setUpBench } from '../support/worker-resources.ts';

/** A league as JSON text with one field written as given. */
function withRaw(field: string, text: string, id = 'a'): string {
  const { [field]: _, ...rest } = makeLeague(id);
  return `{${JSON.stringify(rest).slice(1, -1)},${JSON.stringify(field)}:${text}}`;
}

/**
 * What each value becomes is tested in unit/coerce, and that the database keeps it in test/rigs/model; here, that no digit is
 * lost on the way.
 */
it.each<[string, string, unknown]>([
  ['priority', '9223372036854775807', 9_223_372_036_854_775_807n],
  ['priority', '9223372036854775808', 2 ** 63],
  ['create_datetime', '9223372036854775808', '9223372036854775808'],
  ['last_update_datetime', '9007199254740993', 9_007_199_254_740_993n],
  ['last_update_datetime', '1.23456789012345E18', 1_234_567_890_123_450_000n],
  ['default_markets', '[12345678901234567890,0.10000000000000000001]', '[12345678901234567890,0.10000000000000000001]'],
])('a value of a league is stored: %s sent as %s', async (field, text, stored) => {
  await using bench = await setUpBench();
  expect(await bench.pollWith([withRaw(field, text)])).toMatchObject({ outcome: 'changed' });
  for (const relation of ['leagues', 'league_versions']) {
    expect(readExactRows(bench.path, `SELECT ${field} AS value FROM ${relation}`)).toEqual([{ value: stored }]);
  }
  expect(await bench.pollWith([withRaw(field, text)])).toMatchObject({ outcome: 'unchanged' });
  await bench.pollWith([withRaw(field, text).replace('"League a"', '"Another"')]);
  expect(bench.rows('SELECT field FROM league_field_changes')).toEqual([{ field: 'league_name' }]);
});

it('an element that is nested too deeply for SQLite is rejected and hurts no other', async () => {
  await using bench = await setUpBench();
  await bench.pollWith([makeLeague('a'), withRaw('default_markets', '['.repeat(5_000) + ']'.repeat(5_000), 'deep')]);
  expect(bench.rows('SELECT league_id FROM leagues')).toEqual([{ league_id: 'a' }]);
  expect(bench.rows('SELECT count(*) AS n FROM rejected_leagues')).toEqual([{ n: 1 }]);
});

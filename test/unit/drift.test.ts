import { expect, it } from 'vitest';
import { createDriftLog, type Drift } from '../../src/league/drift.ts';

const drift = (field: string): Drift => ({ field, kind: 'unknown-field', detail: 'string' });

it('the drift log keeps each departure once, and a thousand at most', () => {
  const log = createDriftLog();
  log.add([drift('a'), drift('a'), drift('b')]);
  expect(log.list()).toEqual([drift('a'), drift('b')]);
  log.add(Array.from({ length: 1_100 }, (_, index) => drift(`field-${index}`)));
  expect(log.list()).toHaveLength(1_000);
  log.remove([drift('a')]);
  expect(log.list()).toHaveLength(999);
});

it('the drift log keeps the first league that shows a departure, but no endless id', () => {
  const log = createDriftLog();
  log.add([drift('a')], 'l1');
  log.add([drift('a'), drift('b')], 'l2');
  log.add([drift('c')]);
  log.add([drift('d')], 'l'.repeat(201));
  expect(log.list()).toEqual([
    { ...drift('a'), example_league_id: 'l1' },
    { ...drift('b'), example_league_id: 'l2' },
    drift('c'),
    { ...drift('d'), example_league_id: null },
  ]);
});

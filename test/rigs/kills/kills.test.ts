import { expect, it } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import type { Moment } from './moment.ts';
import { createTally, describeTally, playRound } from './round.ts';
import { missingReader } from './snapshot.ts';

// A sample of what kills.endurance.ts does with many more kills.

const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
const AIMS: readonly Moment[] = ['transaction', 'commit', 'report', 'copier', 'stop', 'publish'];

it('a worker that is killed leaves one version whole, and the next start makes up for it', {
  timeout: 240_000,
}, async ({ annotate }) => {
  const tally = createTally();
  // Twice as many aims, since some kills come too late.
  await playRound({ seed: SEED, leagues: 500, kills: AIMS.length, moments: [...AIMS, ...AIMS], tally });
  const leftOut = missingReader(makeFolder().path);
  if (leftOut !== undefined) await annotate(`the database was read by the same user only: ${leftOut}`);
  await annotate(`TEST_SEED=${SEED}: ${describeTally(tally)}`);
  expect(tally.kills).toBe(AIMS.length);
});

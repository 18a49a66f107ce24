import { expect, it } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import type { Moment } from './moment.ts';
import { playRound } from './round.ts';
import { missingReader } from './snapshot.ts';
import { createTally, describeTally } from './tally.ts';

// A sample of what test/endurance does with many more kills.

const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
const AIMS: readonly Moment[] = ['transaction', 'commit', 'report', 'copier', 'stop', 'publish'];
/** Spare attempts for kills that come too late. */
const MOST_AIMS = AIMS.concat(AIMS);

it('a worker that is killed leaves one version whole, and the next start makes up for it', {
  timeout: 240_000,
}, async ({ annotate }) => {
  const tally = createTally();
  await playRound({ seed: SEED, leagues: 500, kills: AIMS.length, moments: MOST_AIMS, tally });
  const leftOut = missingReader(makeFolder().path);
  if (leftOut !== undefined) await annotate(`the database was read by the same user only: ${leftOut}`);
  await annotate(`TEST_SEED=${SEED}: ${describeTally(tally)}`);
  expect(tally).toMatchObject({ torn: 0, lost: 0, unclean: 0, kills: AIMS.length });
});

import { expect, it } from 'vitest';
import { unlessAll } from '../../support/extent.ts';
import { makeFolder } from '../../support/folder.ts';
import { createTally, describeTally, playRound } from './round.ts';
import { missingReader } from './snapshot.ts';

const LEAGUES = 5_000;
/** Each round has a new database, so that kills also hit new databases. */
const ROUNDS = unlessAll(1, 8);
const KILLS = unlessAll(12, 25);
const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
const LARGEST_SHARE_WITHOUT_WAL = 0.05;

it(`a worker that is killed at random moments of polls of ${LEAGUES} leagues leaves one version whole and all that it reported, and every restart is clean (TEST_SEED=${SEED})`, async () => {
  expect(missingReader(makeFolder().path)).toBeUndefined();
  const tally = createTally();
  for (let round = 1; round <= ROUNDS; round += 1) {
    await playRound({ seed: SEED + round, leagues: LEAGUES, kills: KILLS, tally });
    console.info(`after round ${round} of ${ROUNDS}: ${describeTally(tally)}`);
  }
  expect(tally.kills).toBe(ROUNDS * KILLS);
  expect(tally.withoutWal).toBeLessThan(LARGEST_SHARE_WITHOUT_WAL * tally.kills);
  expect(tally.copierKills).toBeGreaterThan(0);
  // Which of the six places a dozen kills hit is chance; that they hit several is not.
  expect(tally.hits.size).toBeGreaterThanOrEqual(3);
  if (tally.kills < 100) return;
  expect([...tally.hits.keys()]).toEqual(
    expect.arrayContaining([
      'before the first request',
      'after the request, before or in the transaction',
      'after the report',
    ]),
  );
});

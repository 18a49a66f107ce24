import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unlessAll } from '../../support/extent.ts';
import { makeFolder } from '../../support/folder.ts';
import { playRound } from './round.ts';
import { missingReader } from './snapshot.ts';
import { createTally, describeTally } from './tally.ts';

const LEAGUES = 5_000;
/** Each round has a new database, so that kills also hit new databases. */
const ROUNDS = unlessAll(2, 8);
const KILLS = unlessAll(12, 25);
const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
const LARGEST_SHARE_WITHOUT_WAL = 0.05;

const tally = createTally();

beforeAll(() => {
  console.info(`The moments of the kills are chosen with TEST_SEED=${SEED}.`);
});
afterAll(() => {
  console.info(`in all: ${describeTally(tally)}`);
});

describe(`a worker that is killed at random moments of polls of ${LEAGUES} leagues (TEST_SEED=${SEED})`, () => {
  it('is read by another user without write permission', () => {
    expect(missingReader(makeFolder().path)).toBeUndefined();
  });

  it.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
    'leaves one version whole and all that it reported, and every restart is clean: round %i',
    async (round) => {
      await playRound({ seed: SEED + round, leagues: LEAGUES, kills: KILLS, tally });
      console.info(`after round ${round} of ${ROUNDS}: ${describeTally(tally)}`);
    },
  );

  it(`was killed ${ROUNDS * KILLS} times, before, in and after transactions, and nothing was torn or lost`, () => {
    expect(tally).toMatchObject({ kills: ROUNDS * KILLS, torn: 0, lost: 0, unclean: 0 });
    expect(tally.withoutWal).toBeLessThan(LARGEST_SHARE_WITHOUT_WAL * tally.kills);
    expect(tally.copierKills).toBeGreaterThan(0);
    const hits = [...tally.hits.keys()].join('\n');
    for (const place of ['before the first request', 'in the transaction', 'after the report'])
      expect(hits).toContain(place);
  });
});

import { pickIndex, type Random } from '../../../src/simulator/churn.ts';
import type { Row } from '../../support/database.ts';
import { makeLeague } from '../../support/leagues.ts';
import { grantLogin, listLeagues, type Seen, startService } from '../../support/service.ts';
import { shuffleItems } from '../../support/shuffle.ts';

const LEAGUES = 400;
/** At most what the removal guard lets pass. */
const MOST_REMOVED = 5;
/** So much that one change is larger than a message may be; a few of the middle ones are, together. */
const SIZES = { usual: 50, large: 6_000, largest: 70_000 };
/** Often enough that some of a hundred workers live to tell that removals are held. */
const SHARE_OF_EMPTY_LISTS = 0.15;
const SHARE_THAT_STAY_EMPTY = 0.5;

export type Feed = {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** The list stays as it is. */
  readonly calm: () => void;
};

/** Starts a service whose list changes with every poll: mostly a little, sometimes a lot. It ends with the test. */
export async function startFeed(random: Random): Promise<Feed> {
  const nextList = createList(random);
  let list = nextList();
  let isCalm = false;
  const leagues = () => {
    // An empty one would hold removals.
    if (!isCalm || list.length === 0) list = nextList();
    return listLeagues(list);
  };
  const login = grantLogin({ access_token: 'token-of-webhooks' });
  const { url, requests: seen } = await startService({ login, leagues });
  return {
    url,
    seen,
    calm: () => {
      isCalm = true;
    },
  };
}

function createList(random: Random): () => readonly Row[] {
  const leagues = new Map<string, Row>();
  let [version, isEmpty] = [0, false];
  const change = (id: string): void => {
    leagues.set(id, makeLeague(id, { priority: version, default_markets: ['x'.repeat(sizeOf(random)), version] }));
  };
  for (let index = 0; index < LEAGUES; index += 1) change(`league ${index} "é`);
  return () => {
    version += 1;
    const ids = shuffleItems([...leagues.keys()], random);
    for (const id of ids.slice(0, countOf(random))) change(id);
    // More than the guard lets pass: held, with a message, until the leagues are listed again.
    isEmpty = random() < (isEmpty ? SHARE_THAT_STAY_EMPTY : SHARE_OF_EMPTY_LISTS);
    if (isEmpty) return [];
    const absent = new Set(ids.slice(0, pickIndex(MOST_REMOVED + 1, random)));
    return [...leagues.values()].filter(({ league_id }) => !absent.has(String(league_id)));
  };
}

/** How many leagues change. */
function countOf(random: Random): number {
  const chance = random();
  if (chance < 0.1) return 0;
  if (chance < 0.25) return 1;
  if (chance < 0.5) return pickIndex(20, random);
  return chance < 0.85 ? 50 + pickIndex(50, random) : 150 + pickIndex(150, random);
}

function sizeOf(random: Random): number {
  const chance = random();
  if (chance < 0.0005) return SIZES.largest;
  return chance < 0.02 ? SIZES.large : SIZES.usual;
}

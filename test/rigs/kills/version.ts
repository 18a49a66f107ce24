import { makeLeague } from '../../support/leagues.ts';
import { grantLogin, listLeagues, startService } from '../../support/service.ts';

// A service whose list changes with every poll and is identified by a version number in its data.

/** A tenth of the leagues changes with each version. */
const GROUPS = 10;
/** The number of leagues that are not listed, which differ per version: far fewer than the guard would hold. */
const ABSENT = 20;
/** Large enough that no edition is negative. */
const FIRST_VERSION = GROUPS;
/** Long enough for kills while a response is pending. */
const ANSWER_DELAY_MS = 20;

export type VersionedService = Awaited<ReturnType<typeof startVersions>>;

/** Starts the service. It ends with the test. */
export async function startVersions(size: number) {
  let latest = FIRST_VERSION - 1;
  const service = await startService({
    login: grantLogin({ access_token: 'token-of-kills' }),
    leagues: () => {
      latest += 1;
      return { ...listLeagues(listOf(latest, size), { message: nameVersion(latest) }), delayMs: ANSWER_DELAY_MS };
    },
  });
  /** `size` is the number of all leagues, `latest` the newest version that was requested. */
  return { ...service, size, latest: () => latest };
}

/** The `message` of the response, which the row of the run stores. */
function nameVersion(version: number): string {
  return `version ${version}`;
}

export function readVersion(message: unknown): number {
  return Number(/^version (\d+)$/.exec(String(message))?.[1]);
}

/** The whole list of a version. */
export function listOf(version: number, size: number) {
  const indices = Array.from({ length: size }, (_, index) => index);
  return indices.filter((index) => isListed(index, version, size)).map((index) => leagueAt(index, version));
}

function isListed(index: number, version: number, size: number): boolean {
  const first = (version * ABSENT) % size;
  return (index - first + size) % size >= ABSENT;
}

function leagueAt(index: number, version: number) {
  const edition = version - ((version + index) % GROUPS);
  return makeLeague(`league-${String(index).padStart(5, '0')}`, {
    league_name: `League ${index}, edition ${edition}`,
    priority: edition,
    rankings: edition % 2 === 0,
    default_markets: ['win', edition],
    edition,
  });
}

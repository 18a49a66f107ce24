import { closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { LEAGUE_FIELDS } from '../../src/interface.ts';
import { createRandom } from '../../src/simulator/churn.ts';

export type SentLeague = Readonly<Record<string, unknown>> & { readonly league_id: string };

/** The fields of the interface in its order. */
export const COLUMNS: readonly string[] = LEAGUE_FIELDS.map(({ name }) => name);

/** What a program is given: the same leagues as an answer of the service, and as a list by itself. */
export type Lists = { readonly answer: string; readonly list: string; readonly bodyBytes: number };

const SAMPLES = join(import.meta.dirname, '../../src/simulator/leagues.json');
const SEED = 20_261_120;
/** One in so many is changed. */
const CHANGED_EVERY = 100;

/** The samples over and over, each with an id and a name of its own. The same ones at every call. */
export function makeLeagues(count: number): readonly SentLeague[] {
  const { leagues: samples } = JSON.parse(readFileSync(SAMPLES, 'utf8')) as { leagues: readonly SentLeague[] };
  const random = createRandom(SEED);
  return Array.from({ length: count }, (_, index) => {
    const sample = samples[index % samples.length];
    const round = Math.floor(index / samples.length);
    const name = round === 0 ? sample?.league_name : `${sample?.league_name} ${round + 1}`;
    return { ...sample, league_id: makeId(random), league_name: name };
  });
}

/** The same leagues, shuffled. */
export function inOtherOrder(leagues: readonly SentLeague[]): readonly SentLeague[] {
  const random = createRandom(SEED + 1);
  const shuffled = [...leagues];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const [one, two] = [shuffled[last], shuffled[other]];
    if (one === undefined || two === undefined) continue;
    shuffled[last] = two;
    shuffled[other] = one;
  }
  return shuffled;
}

/** As a service changes them: their place in the list, their season, and when that was. */
export function withChanges(leagues: readonly SentLeague[]): readonly SentLeague[] {
  return leagues.map((league, index) => {
    if (index % CHANGED_EVERY !== 0) return league;
    const status = league.status === 'active' ? 'inactive' : 'active';
    const last_update_datetime = '2026-11-20T12:00:00.000001';
    return { ...league, priority: Number(league.priority) + 1, status, active_year: '2027', last_update_datetime };
  });
}

/** Writes both forms of a list, league by league: half a million of them are longer than a string should be. */
export function writeLists(folder: string, name: string, leagues: readonly SentLeague[]): Lists {
  const [answer, list] = [join(folder, `${name}.answer.json`), join(folder, `${name}.list.json`)];
  write(list, '[', leagues, ']');
  const end = `],"timestamp":"${new Date(0).toISOString()}","result":"success"}`;
  write(answer, '{"message":"Leagues retrieved","leagues":[', leagues, end);
  return { answer, list, bodyBytes: statSync(answer).size };
}

const CHUNK = 10_000;

function write(file: string, begin: string, leagues: readonly SentLeague[], end: string): void {
  const fd = openSync(file, 'w');
  writeSync(fd, begin);
  for (let from = 0; from < leagues.length; from += CHUNK) {
    const texts = leagues.slice(from, from + CHUNK).map((league) => JSON.stringify(league));
    writeSync(fd, (from === 0 ? '' : ',') + texts.join(','));
  }
  writeSync(fd, end);
  closeSync(fd);
}

/** A UUID of version 4. */
function makeId(random: () => number): string {
  const word = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const digits = word() + word() + word() + word();
  const variant = '89ab'[Number.parseInt(digits[16] ?? '0', 16) & 3];
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20),
  ].join('-');
}

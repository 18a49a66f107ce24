import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { LEAGUE_FIELDS } from '../../src/league/response-schemas.ts';
import { createRandom, pickIndex, type Random } from '../../src/simulator/churn.ts';
import { shuffleItems } from '../../test/support/shuffle.ts';

export type SentLeague = Readonly<Record<string, unknown>> & { readonly league_id: string };

/** The fields of the interface in its order. */
export const COLUMNS: readonly string[] = LEAGUE_FIELDS.map(({ name }) => name);

/** The input of a program: the same leagues as a response of the service, and as a bare list. */
export type Lists = { readonly answer: string; readonly list: string; readonly bodyBytes: number };

const SAMPLES = join(import.meta.dirname, '../../src/simulator/leagues.json');
const SEED = 20_261_120;
/** One in this many leagues is changed. */
const CHANGED_EVERY = 100;

/** Repeats the sample leagues, each with its own id and name. Deterministic. */
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

const OPTIONAL = LEAGUE_FIELDS.filter(({ presence }) => presence === 'optional').map(({ name }) => name);

/**
 * Leagues that cost more than their number tells: a dash beyond Latin-1 in every name, and every optional field absent
 * in a third or a quarter of them, at random, so that there are a thousand sets of fields.
 */
export function makeUnevenLeagues(count: number): readonly SentLeague[] {
  const random = createRandom(SEED + 2);
  return makeLeagues(count).map((league) => {
    const absent = OPTIONAL.filter((_, index) => pickIndex(index % 2 === 0 ? 3 : 4, random) === 0);
    const fields = Object.entries(league).filter(([name]) => !absent.includes(name as (typeof OPTIONAL)[number]));
    return {
      ...Object.fromEntries(fields),
      league_id: league.league_id,
      league_name: `${league.league_name} \u2014 A`,
    };
  });
}

/** The same leagues, shuffled. */
export function inOtherOrder(leagues: readonly SentLeague[]): readonly SentLeague[] {
  return shuffleItems(leagues, createRandom(SEED + 1));
}

/** Changes leagues as the service does: priority, season, and time of the last update. */
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
function makeId(random: Random): string {
  const digit = (index: number): string => {
    if (index === 12) return '4';
    const value = pickIndex(16, random);
    return index === 16 ? '89ab'.charAt(value & 3) : value.toString(16);
  };
  return Array.from({ length: 32 }, (_, index) => digit(index))
    .join('')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

type Row = Readonly<Record<string, unknown>>;

/** One text for all leagues with all 19 fields, independent of their order; compared with `digestOfTable`. */
export function digestOf(leagues: readonly SentLeague[]): string {
  const digest = createHash('sha256');
  const sorted = leagues.toSorted((one, other) => (one.league_id < other.league_id ? -1 : 1));
  for (const league of sorted) digest.update(line(league));
  return digest.digest('hex');
}

/** The same digest of a database. */
export function digestOfTable(path: string): string {
  const db = new Database(path, { readonly: true });
  const digest = createHash('sha256');
  const rows = db.prepare<[], Row>(`SELECT ${COLUMNS.join(', ')} FROM leagues ORDER BY league_id`).iterate();
  for (const row of rows) digest.update(line(row));
  db.close();
  return digest.digest('hex');
}

function line(row: Row): string {
  return `${JSON.stringify(COLUMNS.map((name) => sameIn(name, row[name])))}\n`;
}

/** SQLite knows no booleans; every program writes lists as JSON, with spaces or without; a missing field is a NULL. */
function sameIn(name: string, value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  if (name === 'default_markets' && typeof value === 'string') return JSON.parse(value);
  return value ?? null;
}

import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { Row } from '../../support/database.ts';
import { MEMBERS } from './field.ts';
import { type Cell, canonical, isDigits, isMap, numberCell, readJson, type Written } from './json.ts';
import type { Cells } from './list.ts';

const EMBEDDED = ['default_markets', 'extra'];

/** Like `toEqual`, but fast if both are equal. */
export function expectSame(found: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(found, expected)) return;
  expect(found, what).toStrictEqual(expected);
  throw new Error(`${what}: the values differ in a way that cannot be shown.`);
}

/** The 19 fields and `extra` of a row, with its JSON in canonical form. */
export function rowCells(row: Row): Cells {
  return Object.fromEntries(
    MEMBERS.map((name) => {
      const value = row[name] as Cell;
      return [name, EMBEDDED.includes(name) && value !== null ? canonical(readJson(String(value))) : value];
    }),
  );
}

/** The members of a league as the feed writes them, as the columns of `leagues` would give them back. */
export function feedCells(json: string): Cells {
  const league = readJson(json);
  if (!isMap(league)) throw new Error('A league of the feed is no object.');
  return Object.fromEntries([...league].map(([name, value]) => [name, feedCell(name, value)]));
}

function feedCell(name: string, value: Written): Cell {
  if (value === null) return null;
  if (EMBEDDED.includes(name)) return canonical(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (isDigits(value)) return numberCell(value) ?? null;
  if (typeof value !== 'string') throw new Error(`The feed holds no plain value in ${name}.`);
  return value;
}

/** The same, with the text of JSON as it stands in the feed. */
export function feedColumns(json: string): Cells {
  const texts = JSON.parse(json, (_key, value: unknown, { source = '' }: { source?: string } = {}) =>
    typeof value === 'number' ? JSON.rawJSON(source) : value,
  ) as Row;
  const embedded = EMBEDDED.map((name) => [name, texts[name] === null ? null : JSON.stringify(texts[name])]);
  return { ...feedCells(json), ...Object.fromEntries(embedded) };
}

export function byId(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [String(row.league_id), row]));
}

import type { ModelBench } from './bench.ts';
import { MEMBERS } from './field.ts';
import type { Cells } from './list.ts';
import { byId, expectSame, rowCells } from './rows.ts';
import type { ModelChange } from './state.ts';

/** The listed leagues from a timestamp on. */
export type Moment = { readonly at: string; readonly live: ReadonlyMap<string, Cells> };

const BETWEEN = 'valid_from <= :at AND (valid_to IS NULL OR valid_to > :at)';
const OVERLAPS = `SELECT a.league_id, a.seq FROM league_versions a JOIN league_versions b
  ON a.league_id = b.league_id AND a.seq < b.seq AND (a.valid_to IS NULL OR a.valid_to > b.valid_from)`;

/** Compares `league_versions` with what was listed at each timestamp, and just before it. */
export function expectVersions({ rows }: ModelBench, moments: readonly Moment[]): void {
  expectSame(rows(OVERLAPS), [], 'versions that overlap');
  expectSame(rows('SELECT seq FROM league_versions WHERE valid_from >= valid_to'), [], 'versions of no length');
  let before: Moment['live'] = new Map();
  for (const { at, live } of moments) {
    const justBefore = new Date(Date.parse(at) - 1).toISOString();
    expectSame(versionsAt(rows, justBefore), before, `what was listed just before ${at}`);
    expectSame(versionsAt(rows, at), live, `what was listed at ${at}`);
    before = live;
  }
  const members = ['league_id', ...MEMBERS.slice(1)].join(', ');
  expectSame(
    byId(rows(`SELECT ${members} FROM league_versions WHERE valid_to IS NULL`)),
    byId(rows(`SELECT ${members} FROM leagues WHERE removed_at IS NULL`)),
    'the present versions, to the letter',
  );
}

function versionsAt(rows: ModelBench['rows'], at: string): ReadonlyMap<string, Cells> {
  const versions = rows(`SELECT * FROM league_versions WHERE ${BETWEEN}`, { at });
  expectSame(new Set(versions.map(({ league_id }) => league_id)).size, versions.length, `one version of each at ${at}`);
  return new Map(versions.map((row) => [String(row.league_id), rowCells(row)]));
}

/** Compares `league_field_changes` with the fields that the changes had to name. */
export function expectFieldChanges({ rows }: ModelBench, changes: readonly ModelChange[]): void {
  const expected = changes.flatMap(({ leagueId, kind, before }) =>
    kind === 'changed' || kind === 'restored'
      ? Object.keys(before ?? {}).map((field) => `${leagueId} ${kind} ${field}`)
      : [],
  );
  const found = rows('SELECT league_id, kind, field FROM league_field_changes').map(
    (row) => `${row.league_id} ${row.kind} ${row.field}`,
  );
  expectSame(found.sort(), expected.sort(), 'league_field_changes');
}

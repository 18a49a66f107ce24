import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { codeOf } from '../../../src/errors.ts';
import { execute, withDatabase } from '../../support/database.ts';
import type { Random } from '../simulation/random.ts';

/** Damages a file of a history in a way that `verify` promises to see; false where the file has nothing to damage. */
export type Damage = (path: string, random: Random) => boolean;

const VALUES = [null, 'x', '', 5n, 5.5, 0n, 1n, '{"x":1}', '[1, 2]', '2020-01-01T00:00:00.000Z'];

export const DAMAGES: Readonly<Record<string, Damage>> = {
  'a page is overwritten': (path, random) => {
    const [size, pages] = withDatabase(path, (db) => [readNumber(db, 'page_size'), readNumber(db, 'page_count')]);
    const file = openSync(path, 'r+');
    const noise = Uint8Array.from({ length: size }, () => random.int(0, 256));
    writeSync(file, noise, 0, size, size * random.int(0, pages));
    closeSync(file);
    return true;
  },
  'an index is missing': (path, random) => drop(path, random, 'index'),
  'a trigger is missing': (path, random) => drop(path, random, 'trigger'),
  'a row of leagues is missing': (path, random) =>
    change(path, (db) => db.prepare('DELETE FROM leagues WHERE rowid = ?').run(pickRow(db, random, 'leagues')).changes),
  'a row of leagues is added': (path) =>
    change(path, (db) => {
      const names = columnsOf(db).slice(1).join(', ');
      return db.prepare(`INSERT INTO leagues SELECT 'none', ${names} FROM leagues LIMIT 1`).run().changes;
    }),
  // content_hash, the last one, is outside the feed.
  'a value of leagues is another': (path, random) =>
    change(path, (db) => replaceValue(db, random, random.pick(columnsOf(db).slice(0, -1)))),
  'a number of leagues has another type': (path, random) =>
    change(path, (db) => {
      const sql =
        "UPDATE leagues SET priority = CAST(priority AS REAL) WHERE rowid = ? AND typeof(priority) = 'integer'";
      return db.prepare(`${sql} AND abs(priority) < 1e15`).run(pickRow(db, random, 'leagues')).changes;
    }),
  'a before of the feed is another': (path, random) => change(path, (db) => replaceMember(db, random, 'before')),
  'an after of the feed is another': (path, random) => change(path, (db) => replaceMember(db, random, 'after')),
  'a file of another program is in its place': (path, random) => {
    const others = [() => writeFileSync(path, 'not a database'), () => execute(path, 'PRAGMA application_id = 7')];
    random.pick(others)();
    return true;
  },
};

function readNumber(db: Database.Database, pragma: string): number {
  return Number(db.pragma(pragma, { simple: true }));
}

function columnsOf(db: Database.Database): readonly string[] {
  return db.prepare<[], string>("SELECT name FROM pragma_table_info('leagues')").pluck().all();
}

function drop(path: string, random: Random, type: 'index' | 'trigger'): boolean {
  return withDatabase(path, (db) => {
    const names = db.prepare(`SELECT name FROM sqlite_schema WHERE type = '${type}' AND sql IS NOT NULL`).pluck().all();
    db.exec(`DROP ${type} ${random.pick(names)}`);
    return true;
  });
}

/** Writes what the triggers refuse, and leaves them in place; returns whether it wrote something. */
function change(path: string, write: (db: Database.Database) => unknown): boolean {
  return withDatabase(path, (db) => {
    const select = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'";
    const triggers = db.prepare<[], { readonly name: string; readonly sql: string }>(select).all();
    for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
    const written = Boolean(write(db));
    for (const { sql } of triggers) db.exec(sql);
    return written;
  });
}

function pickRow(db: Database.Database, random: Random, table: string, where = 'true'): unknown {
  const ids = db.prepare(`SELECT rowid FROM ${table} WHERE ${where}`).pluck().all();
  return ids.length === 0 ? null : random.pick(ids);
}

/** The first value, from a random one on, that the table takes and that is another one. */
function replaceValue(db: Database.Database, random: Random, column: string): boolean {
  const row = pickRow(db, random, 'leagues');
  const start = random.int(0, VALUES.length);
  return [...VALUES.slice(start), ...VALUES.slice(0, start)].some((value) => {
    const isOther = `(${column} IS NOT ? OR typeof(${column}) <> typeof(?))`;
    try {
      const update = db.prepare(`UPDATE leagues SET ${column} = ? WHERE rowid = ? AND ${isOther}`);
      return update.run(value, row, value, value).changes > 0;
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_CONSTRAINT')) throw error;
      return false;
    }
  });
}

/** Changes, removes or adds one member. */
function replaceMember(db: Database.Database, random: Random, column: 'before' | 'after'): boolean {
  const row = pickRow(db, random, 'league_changes', `${column} IS NOT NULL`);
  const select = db.prepare(`SELECT key FROM league_changes, json_each(${column}) WHERE seq = ?`).pluck();
  const key = random.pick([...select.all(row), 'city', 'note']);
  const value = random.pick(['"other"', '7', '12345678901234567891', 'true', '{"a":1}']);
  // A member that is absent means what null means.
  const remove = `iif(json_type(${column}, '$.${key}') = 'null', ${column}, json_remove(${column}, '$.${key}'))`;
  const set = random.pick([`json_set(${column}, '$.${key}', json('${value}'))`, remove]);
  const update = `UPDATE league_changes SET ${column} = ${set} WHERE seq = ? AND json(${set}) <> json(${column})`;
  return db.prepare(update).run(row).changes > 0;
}

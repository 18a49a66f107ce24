import { codeOf } from '../errors.ts';
import { openUntouched } from '../store/connection.ts';
import { explainErrors, toDatabaseError } from '../store/database-error.ts';
import { APPLICATION_ID, readHeader, sizeOf } from '../store/database-file.ts';
import { foldFeed } from '../store/fold.ts';
import { assertSchemaKnown, readMigrations, schemaVersion } from '../store/migrate.ts';
import { compareSchema, findSilentViews } from '../store/schema-comparison.ts';
import { type FileState, findUnsound, readFileState, sharesHistory } from '../store/whole-file.ts';
import { plural } from '../terminal/text.ts';
import { formatSize } from '../time/duration.ts';
import { type CheckResult, fail, failure, ok, skipped } from './result.ts';

type Connection = ReturnType<typeof openUntouched>;
type Lines<T> = Generator<CheckResult, T>;

const FIX = 'use another backup, or rescue what is left (docs/operations.md, "Rescue a damaged database")';

/** What nothing here can judge. */
export const NOT_SEEN =
  'content_hash and the tables besides leagues and league_changes, as far as SQLite finds them in order, and whether a whole file is an older state than it should be';

/**
 * Whether a file is whole: a line for each thing that was looked at; returns what the file holds, if that can be read.
 * Throws a DatabaseError if one of the files cannot be read, is not ours, or was written by a newer version.
 */
export function* verifyFile(path: string, against?: string): Lines<(FileState & { lacks?: number }) | undefined> {
  const opened: Connection[] = [];
  const open = (file: string): Connection => {
    const db = openUntouched(file);
    opened.push(db);
    return db;
  };
  try {
    const other = against === undefined ? undefined : open(against);
    const found = yield* unlessDamaged(path, () => verifyContent(open(path), path));
    if (found === undefined || other === undefined || against === undefined) return found?.state;
    const lacks = yield* compareWith(found, against, other);
    return { ...found.state, lacks };
  } finally {
    for (const db of opened) db.close();
  }
}

function* unlessDamaged<T>(path: string, work: () => Lines<T>): Lines<T | undefined> {
  try {
    return yield* work();
  } catch (error) {
    const code = codeOf(error) || codeOf(error instanceof Error ? error.cause : undefined);
    const isDamaged = /^SQLITE_(CORRUPT|NOTADB)/.test(code) && readHeader(path)?.applicationId === APPLICATION_ID;
    if (!isDamaged) throw code.startsWith('SQLITE_') ? toDatabaseError(error, path) : error;
    yield fail('integrity', `SQLite cannot read all of it (${code})`, FIX);
    yield skipped('everything else', FIX);
    return undefined;
  }
}

function* verifyContent(db: Connection, path: string) {
  const unsound = findUnsound(db);
  const size = formatSize(sizeOf(path) + sizeOf(`${path}-wal`));
  if (unsound.length === 0) yield ok('integrity', `passes SQLite's integrity_check, ${size}`);
  else yield fail('integrity', `fails SQLite's integrity_check: ${unsound.join('; ')}`, FIX);
  if (unsound.length > 0 || !(yield* verifySchema(db, path))) {
    yield skipped('everything else', FIX);
    return undefined;
  }
  yield* verifyFeed(db);
  const state = readFileState(db);
  const { newestPoll: poll, lastSeq } = state;
  const newest =
    poll === null ? 'no good poll' : `the newest good poll, run ${poll.run_id}, ended at ${poll.finished_at}`;
  yield ok('newest', `${newest}; the newest change has seq ${lastSeq}`);
  return { db, state };
}

/** Returns whether the tables are ours. */
function* verifySchema(db: Connection, path: string): Lines<boolean> {
  const known = readMigrations();
  const version = schemaVersion(db);
  try {
    assertSchemaKnown(db, known, path);
  } catch (error) {
    if (version > known.length) throw error;
    yield failure('schema', error, FIX);
    return false;
  }
  const { missing, different, added, count, views } = compareSchema(db, known.slice(0, version));
  const faults = [
    ...missing.map((name) => `the ${name} is missing`),
    ...different.map((name) => `the ${name} is another`),
  ];
  const others = added.length === 0 ? '' : `; other programs added the ${added.join(', ')}`;
  if (version === 0) yield fail('schema', 'its header names no schema version', FIX);
  else if (faults.length > 0) yield fail('schema', `not schema ${version}: ${faults.join(', ')}`, FIX);
  else yield ok('schema', `schema ${version}, with all ${count} tables, indexes, triggers and views${others}`);
  const silent = findSilentViews(db, views);
  if (silent.length > 0) yield fail('views', silent.join('; '), FIX);
  else yield ok('views', `${plural(views.length, 'view')} answer`);
  return ![...missing, ...different].some((name) => name.startsWith('table '));
}

function* verifyFeed(db: Connection): Lines<void> {
  const { changes, leagues, lastSeq, faults, differences } = foldFeed(db);
  if (faults.length > 0) {
    yield fail('feed', faults.join('; '), FIX);
    yield skipped('whether the feed gives the table leagues', FIX);
    return;
  }
  const each = `${plural(changes, 'change')}, up to seq ${lastSeq}; none is earlier than the one before and fits the league's version before it`;
  yield ok('feed', changes === 0 ? 'no changes yet' : each);
  if (differences.length > 0) yield fail('leagues', `not what the feed says: ${differences.join('; ')}`, FIX);
  else yield ok('leagues', `${plural(leagues, 'league')}, as the feed says from its start`);
}

type Found = { readonly db: Connection; readonly state: FileState };

/** Returns how many changes the file lacks. */
function* compareWith({ db, state }: Found, against: string, other: Connection): Lines<number> {
  const [theirs, isSame] = explainErrors(against, () => [readFileState(other), sharesHistory(db, other)] as const);
  const lacks = Math.max(0, theirs.lastSeq - state.lastSeq);
  const ahead = Math.max(0, state.lastSeq - theirs.lastSeq);
  const end =
    theirs.newestPoll === null ? 'has no good poll' : `has its newest good poll at ${theirs.newestPoll.finished_at}`;
  if (!isSame) {
    const message = `its history is not that of ${against}: another database, or one that went another way since a restore`;
    yield fail('against', message, 'use a backup of the same database, made after it was last restored');
  } else if (ahead > 0) yield ok('against', `has all changes of ${against}, and ${ahead} more; ${against} ${end}`);
  else yield ok('against', `lacks ${lacks === 0 ? 'no change' : plural(lacks, 'change')} of ${against}, which ${end}`);
  return lacks;
}

import { codeOf } from '../errors.ts';
import { openUntouched } from '../store/connection.ts';
import { explainErrors, toDatabaseError } from '../store/database-error.ts';
import { APPLICATION_ID, hasOurTables, readHeader, sizeOf } from '../store/database-file.ts';
import { type FileState, readFileState, sharesHistory } from '../store/file-state.ts';
import { foldFeed } from '../store/fold.ts';
import { checkIntegrity } from '../store/inspect.ts';
import { assertSchemaKnown, readMigrations, schemaVersion } from '../store/migrate.ts';
import { compareSchema } from '../store/schema-comparison.ts';
import { plural } from '../terminal/text.ts';
import { formatSize } from '../time/duration.ts';
import { type CheckResult, fail, failure, LARGE_BYTES, ok, skipped, type Watch } from './result.ts';

type Connection = ReturnType<typeof openUntouched>;
type Lines<T> = Generator<CheckResult, T>;
type Verified = FileState & { readonly lacks: number | null };

const FIX = 'use another backup, or rescue what is left (docs/operations.md, "Rescue a damaged database")';

/** What nothing here can judge. */
export const NOT_SEEN =
  'content_hash and the tables besides leagues and league_changes, as far as SQLite finds them in order, and whether a whole file is an older state than it should be';

/**
 * Whether a file is whole: a line for each thing that was looked at; returns what the file holds, if that can be read.
 * Throws a DatabaseError if one of the files cannot be read, is not ours, or was written by a newer version.
 */
export function* verifyFile(path: string, against?: string, say?: Watch['say']): Lines<Verified | undefined> {
  const other = against === undefined ? undefined : openUntouched(against);
  let db: Connection | undefined;
  /** Whether the file that it is compared with is being read. */
  let isOther = false;
  try {
    db = openUntouched(path, true);
    const state = yield* verifyContent(db, path, say);
    if (state === undefined || other === undefined || against === undefined) return state && { ...state, lacks: null };
    isOther = true;
    return { ...state, lacks: yield* compareWith(db, state, against, other) };
  } catch (error) {
    if (isOther) throw toDatabaseError(error, against ?? '');
    const code = codeOf(error) || codeOf(error instanceof Error ? error.cause : undefined);
    db?.close();
    const isDamaged = /^SQLITE_(CORRUPT|NOTADB)/.test(code) && readHeader(path)?.applicationId === APPLICATION_ID;
    if (!isDamaged) throw code.startsWith('SQLITE_') ? toDatabaseError(error, path) : error;
    yield fail('integrity', `SQLite cannot read all of it (${code})`, FIX);
    yield skipped('everything else', FIX);
    return undefined;
  } finally {
    db?.close();
    other?.close();
  }
}

function* verifyContent(db: Connection, path: string, say?: Watch['say']): Lines<FileState | undefined> {
  const bytes = sizeOf(path) + sizeOf(`${path}-wal`);
  say?.(`reading ${formatSize(bytes)}`, bytes > LARGE_BYTES);
  const [found, size] = [checkIntegrity(db, bytes), formatSize(bytes)];
  if (found === 'ok') yield ok('integrity', `passes SQLite's integrity_check, ${size}`);
  else yield fail('integrity', `fails SQLite's integrity_check: ${found}`, FIX);
  if (found !== 'ok' || !(yield* verifySchema(db, path))) {
    yield skipped('everything else', FIX);
    return undefined;
  }
  say?.('comparing the feed with the leagues', bytes > LARGE_BYTES);
  const { changes, leagues, lastSeq, misfits, differences } = foldFeed(db);
  const each = 'none is earlier than the one before, and each fits the version of its league before it';
  if (misfits.length > 0) yield fail('feed', misfits.join('; '), FIX);
  else yield ok('feed', `${plural(changes, 'change')}, up to seq ${lastSeq}: ${each}`);
  if (misfits.length > 0) yield skipped('whether the feed gives the table leagues', FIX);
  else if (differences.length > 0) yield fail('leagues', `not what the feed says: ${differences.join('; ')}`, FIX);
  else yield ok('leagues', `${plural(leagues, 'league')}, as the feed says from its start`);
  const state = readFileState(db);
  yield ok('newest', `${describePoll(state)}; the newest change has seq ${lastSeq}`);
  return state;
}

/** Returns whether the tables are ours, so that the rest can be read. */
function* verifySchema(db: Connection, path: string): Lines<boolean> {
  if (!hasOurTables(db)) {
    yield fail('schema', 'it lacks the table league_changes, runs or schema_migrations', FIX);
    return false;
  }
  const [known, version] = [readMigrations(), schemaVersion(db)];
  try {
    assertSchemaKnown(db, known, path);
  } catch (error) {
    if (version > known.length) throw error;
    yield failure('schema', error, FIX);
    return false;
  }
  const { faults, added, count, views, silent } = compareSchema(db, known.slice(0, version));
  const others = added.length === 0 ? '' : `; other programs added ${added.join(', ')}`;
  if (version === 0) yield fail('schema', 'its header names no schema version', FIX);
  else if (faults.length > 0) yield fail('schema', `not schema ${version}: ${faults.join(', ')}`, FIX);
  else yield ok('schema', `schema ${version}, with all ${count} tables, indexes, triggers and views${others}`);
  if (silent.length > 0) yield fail('views', silent.join('; '), FIX);
  else yield ok('views', `${plural(views, 'view')} answer`);
  return !faults.some((fault) => fault.startsWith('table '));
}

function describePoll({ newestPoll: poll }: FileState): string {
  return poll === null ? 'no good poll' : `the newest good poll, run ${poll.run_id}, ended at ${poll.finished_at}`;
}

/** Returns how many changes the file lacks. */
function* compareWith(db: Connection, { lastSeq }: FileState, against: string, other: Connection): Lines<number> {
  const [theirs, isSame] = explainErrors(against, () => [readFileState(other), sharesHistory(db, other)] as const);
  const lacks = Math.max(0, theirs.lastSeq - lastSeq);
  const all = lastSeq > theirs.lastSeq ? `has all changes, and ${lastSeq - theirs.lastSeq} more` : 'lacks no change';
  const difference = lacks > 0 ? `lacks ${plural(lacks, 'change')}` : all;
  if (isSame) yield ok('against', `${difference} of ${against}; there: ${describePoll(theirs)}`);
  else {
    const message = `its history is not that of ${against}: another database, or one that was restored in between`;
    yield fail('against', message, 'use a backup of the same database that was made after it was last restored');
  }
  return lacks;
}

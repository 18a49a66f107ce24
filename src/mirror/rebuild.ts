import type { MirrorSource } from '../config/mirror.ts';
import { codeOf, DatabaseError } from '../errors.ts';
import { connect, type Transaction } from './connect.ts';
import { createSentPages } from './equal.ts';
import { quoted } from './error.ts';
import { createOpener, type FillOptions, fillMirror, readOrigin } from './fill.ts';
import { copyGrants } from './grants.ts';
import { findOwnMirror, type Origin, prepareMirror } from './prepare.ts';
import { RELATIONS, VIEWS } from './tables.ts';
import { type Progress, type Transfer, transferBatch } from './transfer.ts';

/** What the names of the new relations end with until they replace the old ones. */
export const SUFFIX = '__rebuild';

/**
 * Makes the mirror anew: fills new relations beside the old ones, which stay as they are until a transaction replaces
 * them. Rejects with a RunError, or with the reason of `stop`, with the old mirror as it was.
 */
export async function rebuildMirror(path: string, source: MirrorSource, options: FillOptions): Promise<Progress> {
  const openSnapshot = createOpener(path, options.stop);
  const origin = await readOrigin(openSnapshot);
  const transfer = { openSnapshot, sent: createSentPages() };
  if (!(await hasMirror(source, origin, options.stop))) return fillMirror(path, source, options);
  try {
    await fillNew(source, origin, { ...options, transfer });
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await replaceOld(source, origin, { ...options, transfer });
      } catch (error) {
        if (attempt === ATTEMPTS || !isLockTimeout(error)) throw error;
      }
    }
  } catch (error) {
    if (!options.stop.aborted) await dropLeftovers(source, options.stop);
    throw error;
  }
}

/** A reader may hold a lock on the old relations. Each attempt waits for it for 5 s, as new readers do behind it. */
const ATTEMPTS = 6;

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && codeOf(error.cause) === '55P03';
}

type RebuildOptions = FillOptions & { readonly transfer: Transfer };

async function hasMirror(source: MirrorSource, origin: Origin, stop: AbortSignal): Promise<boolean> {
  using session = await connect(source(), stop);
  return await session.transaction((tx) => findOwnMirror(tx, session.target, origin));
}

async function fillNew(source: MirrorSource, origin: Origin, options: RebuildOptions): Promise<void> {
  using session = await connect(source(), options.stop);
  await session.transaction(dropNew);
  await prepareMirror(session, origin, SUFFIX);
  for (;;) {
    const progress = await session.transaction((tx) => transferBatch(tx, options.transfer), SUFFIX);
    options.onProgress(progress);
    if (progress.seq === progress.lastSeq) return;
  }
}

async function replaceOld(source: MirrorSource, origin: Origin, { stop, transfer }: RebuildOptions): Promise<Progress> {
  using session = await connect(source(), stop);
  transfer.sent.forget();
  return await session.transaction(async (tx) => {
    // Without this lock, a worker that waits for the row of the state would have to be waited for in turn.
    await tx.queryAsIs('LOCK TABLE mirror_state IN ACCESS EXCLUSIVE MODE');
    await findOwnMirror(tx, session.target, origin);
    const progress = await transferRest(tx, transfer);
    await copyGrants(tx, RELATIONS, SUFFIX);
    await dropOld(tx);
    await rename(tx);
    return progress;
  }, SUFFIX);
}

/** What was written to the database in the meantime. */
async function transferRest(tx: Transaction, transfer: Transfer): Promise<Progress> {
  for (;;) {
    const progress = await transferBatch(tx, transfer);
    if (progress.seq === progress.lastSeq) return progress;
  }
}

const TABLES = RELATIONS.filter((name) => !VIEWS.includes(name));

async function dropOld(tx: Transaction): Promise<void> {
  try {
    await tx.queryAsIs(`DROP VIEW IF EXISTS ${VIEWS.join(', ')}`);
    await tx.queryAsIs(`DROP TABLE IF EXISTS ${TABLES.join(', ')}`);
  } catch (error) {
    if (codeOf(error) !== DEPENDENT_OBJECTS) throw error;
    const detail = error instanceof Error && 'detail' in error ? String(error.detail).split('\n').join('; ') : '';
    throw new DatabaseError(`The mirror cannot be replaced, because something depends on it: ${detail}.`, {
      fix: 'drop it, call league-sync mirror rebuild again, and make it anew',
    });
  }
}

const DEPENDENT_OBJECTS = '2BP01';

/** Takes the suffix off the names of relations, indexes and constraints. */
async function rename({ queryAsIs }: Transaction): Promise<void> {
  const nameOf = (value: unknown): string => quoted(String(value));
  const without = (value: unknown): string => nameOf(String(value).replace(SUFFIX, ''));
  for (const { kind, name } of await queryAsIs(NEW_RELATIONS, SUFFIX))
    await queryAsIs(`ALTER ${kind} ${nameOf(name)} RENAME TO ${without(name)}`);
  for (const { relation, name } of await queryAsIs(NEW_CONSTRAINTS, SUFFIX))
    await queryAsIs(`ALTER TABLE ${nameOf(relation)} RENAME CONSTRAINT ${nameOf(name)} TO ${without(name)}`);
}

const OWN_SCHEMA = '(SELECT oid FROM pg_namespace WHERE nspname = current_schema())';
const NEW_RELATIONS = `SELECT relname AS name, CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'i' THEN 'INDEX' ELSE 'TABLE' END AS kind
  FROM pg_class WHERE relnamespace = ${OWN_SCHEMA} AND relkind IN ('r', 'v', 'i') AND strpos(relname, $1) > 0`;
/** Those with an index have been renamed with it. */
const NEW_CONSTRAINTS = `SELECT class.relname AS relation, conname AS name
  FROM pg_constraint JOIN pg_class AS class ON class.oid = conrelid
  WHERE connamespace = ${OWN_SCHEMA} AND strpos(conname, $1) > 0`;

/** Drops what a rebuild has left that did not end. */
async function dropNew({ queryAsIs }: Transaction): Promise<void> {
  const newNames = (names: readonly string[]): string => names.map((name) => name + SUFFIX).join(', ');
  await queryAsIs(`DROP VIEW IF EXISTS ${newNames(VIEWS)}`);
  await queryAsIs(`DROP TABLE IF EXISTS ${newNames(TABLES)}`);
}

async function dropLeftovers(source: MirrorSource, stop: AbortSignal): Promise<void> {
  try {
    using session = await connect(source(), stop);
    await session.transaction(dropNew);
  } catch {
    // The next rebuild drops them.
  }
}

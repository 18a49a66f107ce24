import { labelOf, type MirrorTarget } from '../config/mirror.ts';
import { codeOf, RefusedError } from '../errors.ts';
import { type Progress, transferBatch } from './batch.ts';
import { catchUp, createOpener, type Filled, readOrigin, repeatToEnd, withLeftOut } from './catch-up.ts';
import { connect, type Transaction } from './connect.ts';
import { quoted } from './error.ts';
import { copyGrants, OWN_SCHEMA } from './grants.ts';
import type { RunsToCompare } from './reconcile.ts';
import { findOwnMirror, type MirrorOrigin, prepareRelations } from './schema.ts';
import { RELATIONS, VIEWS } from './tables.ts';

/** What the names of the new relations end with until they replace the old ones. */
export const SUFFIX = '__rebuild';

/**
 * Rebuilds the mirror in one transaction: fills new relations beside the old ones, which others can read and write
 * until the new ones replace them at its end. Rejects with a RunError, with the old mirror as it was.
 */
export async function rebuildMirror(
  path: string,
  target: MirrorTarget,
  onProgress: (progress: Progress) => void,
): Promise<Filled> {
  const openSnapshot = createOpener(path);
  const origin = await readOrigin(openSnapshot);
  using session = await connect(target);
  const { transaction } = session;
  if (!(await transaction((tx) => findOwnMirror(tx, target, origin))))
    return await catchUp(path, target, { onProgress });
  const rebuilt = await transaction(async (tx) => {
    await assertOnlyRebuild(tx, target);
    await assertNoRowSecurity(tx);
    await prepareRelations(tx, { target, origin, suffix: SUFFIX });
    const transferAll = (runs: RunsToCompare) =>
      repeatToEnd(() => transferBatch(tx, { openSnapshot, runs }), onProgress);
    await transferAll('all');
    await dropOld(tx, target, origin);
    // What the file got in the meantime. Readers wait during this pass, so it compares only recent runs.
    const progress = await transferAll('recent');
    await rename(tx);
    return progress;
  }, SUFFIX);
  return withLeftOut(rebuilt, openSnapshot);
}

async function assertOnlyRebuild({ queryAsIs }: Transaction, target: MirrorTarget): Promise<void> {
  const key = `league-sync rebuild ${target.schema}`;
  const [row] = await queryAsIs(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1::text, 0::bigint)) AS is_only',
    key,
  );
  if (row?.is_only === true) return;
  throw new RefusedError(`The mirror at ${labelOf(target)} is being rebuilt already.`, {
    fix: 'wait until that ends',
  });
}

/** The new table would have no policies, so every role with a grant would see all rows. */
async function assertNoRowSecurity({ queryAsIs }: Transaction): Promise<void> {
  const [row] = await queryAsIs(ROW_SECURITY, RELATIONS.join());
  if (row === undefined) return;
  throw new RefusedError(
    `The mirror cannot be replaced, because the table ${row.relname} has row-level security, which a new one would not have.`,
    {
      fix: `revoke the grants on ${row.relname}, disable its row-level security, run league-sync mirror rebuild again, and recreate the policies before you grant access`,
    },
  );
}

const ROW_SECURITY = `SELECT relname FROM pg_class
  WHERE relnamespace = ${OWN_SCHEMA} AND relname = ANY (string_to_array($1, ',')) AND relrowsecurity ORDER BY relname`;

/** A reader may hold a lock on the old relations. Each attempt waits for it for 5 s, as new readers do behind it. */
const ATTEMPTS = 6;
/** A deadlock: a reader holds one old relation and waits for another. */
const LOCK_TIMEOUT_OR_DEADLOCK = ['55P03', '40P01'];

async function dropOld(tx: Transaction, target: MirrorTarget, origin: MirrorOrigin): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await tx.queryAsIs('SAVEPOINT old');
    try {
      // Locked first, as writers do: a writer that waits for it while it holds another table would deadlock with the DROP.
      await tx.queryAsIs('LOCK TABLE mirror_state IN ACCESS EXCLUSIVE MODE');
      // All of this may have changed while the new tables were filled.
      await findOwnMirror(tx, target, origin);
      await assertNoRowSecurity(tx);
      await copyGrants(tx, RELATIONS, SUFFIX);
      return await dropRelations(tx);
    } catch (error) {
      if (attempt === ATTEMPTS || !LOCK_TIMEOUT_OR_DEADLOCK.includes(codeOf(error))) throw error;
      await tx.queryAsIs('ROLLBACK TO old');
    }
  }
}

const TABLES = RELATIONS.filter((name) => !VIEWS.includes(name));

async function dropRelations(tx: Transaction): Promise<void> {
  try {
    await tx.queryAsIs(`DROP VIEW IF EXISTS ${VIEWS.join(', ')}`);
    await tx.queryAsIs(`DROP TABLE IF EXISTS ${TABLES.join(', ')}`);
  } catch (error) {
    if (codeOf(error) !== DEPENDENT_OBJECTS) throw error;
    const detail = error instanceof Error && 'detail' in error ? String(error.detail).split('\n').join('; ') : '';
    throw new RefusedError(`The mirror cannot be replaced, because something depends on it: ${detail}.`, {
      fix: 'drop it, run league-sync mirror rebuild again, and recreate it',
    });
  }
}

const DEPENDENT_OBJECTS = '2BP01';

/** Takes the suffix off the names of relations, indexes and constraints. */
async function rename({ queryAsIs }: Transaction): Promise<void> {
  const nameOf = (value: unknown): string => quoted(String(value));
  const without = (value: unknown): string => nameOf(String(value).replace(SUFFIX, ''));
  const own = RELATIONS.map((name) => name + SUFFIX).join();
  for (const { kind, name } of await queryAsIs(NEW_RELATIONS, SUFFIX, own))
    await queryAsIs(`ALTER ${kind} ${nameOf(name)} RENAME TO ${without(name)}`);
  for (const { relation, name } of await queryAsIs(NEW_CONSTRAINTS, SUFFIX, RELATIONS.join()))
    await queryAsIs(`ALTER TABLE ${nameOf(relation)} RENAME CONSTRAINT ${nameOf(name)} TO ${without(name)}`);
}

/** Other relations in the schema may contain the suffix too. */
const OWN_RELATIONS = `(SELECT oid FROM pg_class WHERE relnamespace = ${OWN_SCHEMA}
  AND relname = ANY (string_to_array($2, ',')))`;
const NEW_RELATIONS = `SELECT relname AS name, CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'i' THEN 'INDEX' ELSE 'TABLE' END AS kind
  FROM pg_class LEFT JOIN pg_index ON indexrelid = oid
  WHERE coalesce(indrelid, oid) IN ${OWN_RELATIONS} AND strpos(relname::text, $1) > 0`;
/** Their tables have been renamed, and those with an index with it. */
const NEW_CONSTRAINTS = `SELECT class.relname AS relation, conname AS name
  FROM pg_constraint JOIN pg_class AS class ON class.oid = conrelid
  WHERE conrelid IN ${OWN_RELATIONS} AND strpos(conname::text, $1) > 0`;

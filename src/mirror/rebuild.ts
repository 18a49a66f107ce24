import type { MirrorTarget } from '../config/mirror.ts';
import { codeOf, RefusedError } from '../errors.ts';
import { connect, type Transaction } from './connect.ts';
import type { RunsToCompare } from './reconcile.ts';
import { findOwnMirror, type MirrorOrigin, prepareRelations } from './schema.ts';
import { executeAll, LISTED } from './statements.ts';
import { RELATIONS, VIEWS } from './tables.ts';
import {
  catchUp,
  createOpener,
  type OnProgress,
  type Progress,
  readOrigin,
  repeatToEnd,
  transferBatch,
} from './transfer.ts';

/** What the names of the new relations end with until they replace the old ones. */
const SUFFIX = '__rebuild';
const NEW_RELATIONS = RELATIONS.map((name) => name + SUFFIX).join();

/** Fills new relations beside the old ones and swaps them, in one transaction. A RunError leaves all as it was. */
export async function rebuildMirror(path: string, target: MirrorTarget, onProgress: OnProgress): Promise<Progress> {
  const openSnapshot = createOpener(path);
  const origin = await readOrigin(openSnapshot);
  using session = await connect(target);
  const { transaction } = session;
  if (!(await transaction((tx) => findOwnMirror(tx, origin)))) return await catchUp(path, target, { onProgress });
  return await transaction(async (tx) => {
    await assertNoRowSecurity(tx);
    await prepareRelations(tx, { target, origin, suffix: SUFFIX });
    const transferAll = (runs: RunsToCompare) =>
      repeatToEnd(() => transferBatch(tx, { openSnapshot, runs, onProgress }), onProgress);
    await transferAll('all');
    await dropOld(tx, origin);
    // What the file got in the meantime. Readers wait during this pass, so it compares only recent runs.
    const progress = await transferAll('recent');
    await executeAll(tx, RENAME_RELATIONS, NEW_RELATIONS, SUFFIX);
    await executeAll(tx, RENAME_CONSTRAINTS, RELATIONS.join(), SUFFIX);
    return progress;
  }, SUFFIX);
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

const ROW_SECURITY = `SELECT relname FROM pg_class WHERE ${LISTED} AND relrowsecurity ORDER BY relname`;

/** A reader may hold a lock on the old relations. Each attempt waits for it for 5 s, as new readers do behind it. */
const ATTEMPTS = 6;
/** A deadlock: a reader holds one old relation and waits for another. */
const LOCK_TIMEOUT_OR_DEADLOCK = ['55P03', '40P01'];

async function dropOld(tx: Transaction, origin: MirrorOrigin): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await tx.queryAsIs('SAVEPOINT old');
    try {
      // Locked first, as writers do: a writer that waits for it while it holds another table would deadlock with the DROP.
      await tx.queryAsIs('LOCK TABLE mirror_state IN ACCESS EXCLUSIVE MODE');
      // All of this may have changed while the new tables were filled.
      await findOwnMirror(tx, origin);
      await assertNoRowSecurity(tx);
      // The new relations get the grants of the old ones, and none that default privileges gave.
      await executeAll(tx, REVOKE, NEW_RELATIONS);
      await executeAll(tx, GRANT, RELATIONS.join(), SUFFIX);
      return await dropRelations(tx);
    } catch (error) {
      if (attempt === ATTEMPTS || !LOCK_TIMEOUT_OR_DEADLOCK.includes(codeOf(error))) throw error;
      await tx.queryAsIs('ROLLBACK TO old');
    }
  }
}

/** The grants to others than the owner, of relations and of single columns. */
const GRANTS = `FROM pg_class CROSS JOIN LATERAL (
    SELECT NULL AS column_name, relacl AS acl UNION ALL SELECT attname, attacl FROM pg_attribute WHERE attrelid = pg_class.oid
  ) AS granted CROSS JOIN LATERAL aclexplode(granted.acl) AS acl LEFT JOIN pg_roles ON pg_roles.oid = acl.grantee
  WHERE ${LISTED} AND acl.grantee <> relowner`;
const GRANTEE = `coalesce(quote_ident(rolname::text), 'PUBLIC')`;
const REVOKE = `SELECT pg_catalog.format('REVOKE ALL ON %I FROM %s', relname, ${GRANTEE}) AS statement ${GRANTS}`;
const GRANT = `SELECT pg_catalog.format('GRANT %s%s ON %I TO %s%s', privilege_type,
  '(' || quote_ident(column_name::text) || ')', relname::text || $2::text, ${GRANTEE},
  CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END) AS statement ${GRANTS}`;

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

/** Only these lose the suffix: other relations in the schema may contain it too. */
const OWN_OIDS = `(SELECT oid FROM pg_class WHERE ${LISTED})`;
const RENAME_RELATIONS = `SELECT pg_catalog.format('ALTER %s %I RENAME TO %I',
    CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'i' THEN 'INDEX' ELSE 'TABLE' END,
    relname, replace(relname::text, $2::text, ''::text)) AS statement
  FROM pg_class LEFT JOIN pg_index ON indexrelid = oid
  WHERE coalesce(indrelid, oid) IN ${OWN_OIDS} AND strpos(relname::text, $2::text) > 0`;
/** Their tables have been renamed, and those with an index with it. */
const RENAME_CONSTRAINTS = `SELECT pg_catalog.format('ALTER TABLE %I RENAME CONSTRAINT %I TO %I',
    relname, conname, replace(conname::text, $2::text, ''::text)) AS statement
  FROM pg_constraint JOIN pg_class AS class ON class.oid = conrelid
  WHERE conrelid IN ${OWN_OIDS} AND strpos(conname::text, $2::text) > 0`;

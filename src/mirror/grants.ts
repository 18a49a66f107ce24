import type { Row, Transaction } from './connect.ts';
import { quoted } from './error.ts';

/** Gives the new relations the grants of the old ones, and takes from them what default privileges gave. */
export async function copyGrants({ queryAsIs }: Transaction, names: readonly string[], suffix: string): Promise<void> {
  const place = (name: unknown): string => quoted(`${name}${suffix}`);
  for (const row of await queryAsIs(GRANTS, names.map((name) => name + suffix).join()))
    await queryAsIs(`REVOKE ALL ON ${quoted(String(row.relation))} FROM ${granteeOf(row)}`);
  for (const row of await queryAsIs(GRANTS, names.join())) {
    const columns = row.column_name === null ? '' : ` (${quoted(String(row.column_name))})`;
    const option = row.is_grantable === true ? ' WITH GRANT OPTION' : '';
    await queryAsIs(`GRANT ${row.privilege_type}${columns} ON ${place(row.relation)} TO ${granteeOf(row)}${option}`);
  }
}

function granteeOf({ grantee }: Row): string {
  return grantee === null ? 'PUBLIC' : quoted(String(grantee));
}

/** The schema of the mirror, which is first in the search path. */
export const OWN_SCHEMA = '(SELECT oid FROM pg_namespace WHERE nspname = current_schema())';
/** The grants to others than the owner, of relations and of single columns. */
const GRANTS = `SELECT relname AS relation, NULL AS column_name, pg_roles.rolname AS grantee, privilege_type, is_grantable
  FROM pg_class CROSS JOIN LATERAL aclexplode(relacl) AS acl LEFT JOIN pg_roles ON pg_roles.oid = acl.grantee
  WHERE relnamespace = ${OWN_SCHEMA}
    AND relname = ANY (string_to_array($1, ',')) AND acl.grantee <> relowner
  UNION ALL
  SELECT relname, attname, pg_roles.rolname, privilege_type, is_grantable
  FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    CROSS JOIN LATERAL aclexplode(attacl) AS acl LEFT JOIN pg_roles ON pg_roles.oid = acl.grantee
  WHERE relnamespace = ${OWN_SCHEMA}
    AND relname = ANY (string_to_array($1, ',')) AND acl.grantee <> relowner`;

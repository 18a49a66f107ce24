import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeEach, expect, inject, onTestFinished } from 'vitest';
import type { Row } from '../support/database.ts';
import { missingPostgres, PASSWORD, SUPERUSER } from './server.ts';

export type Postgres = Awaited<ReturnType<typeof createPostgres>>;

/** Skips the tests of a file on a machine without a server. */
export function skipWithoutPostgres(): void {
  beforeEach(({ skip }) => {
    const why = missingPostgres();
    if (why !== undefined) skip(why);
  });
}

export const MIRROR_PASSWORD = 'mirror-password:@/?';

/** A database of its own, which ends with the test. `role` may create a schema and owns nothing else. */
export async function createPostgres(port = inject('postgresPort')) {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = await connectAs(port, 'postgres');
  // Every connection of its own: the server may be restarted by a test.
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD '${MIRROR_PASSWORD}'`);
  await admin.query(`GRANT CREATE ON DATABASE ${name} TO ${name}`);
  await admin.end();
  /** As the superuser. Integers of 64 bits arrive as texts, instants as Date, JSON as text. */
  const query = async (sql: string, ...values: readonly unknown[]): Promise<readonly Row[]> => {
    const client = await connectAs(port, name);
    try {
      return (await client.query<Row>(sql, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  onTestFinished(async () => {
    const client = await connectAs(port, 'postgres').catch(() => undefined);
    await client?.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await client?.query(`DROP ROLE ${name}`);
    await client?.end();
  });
  /** For the program, as the role. */
  const url = `postgresql://${name}:${encodeURIComponent(MIRROR_PASSWORD)}@127.0.0.1:${port}/${name}`;
  return { url, role: name, query, name, port };
}

/** A connection of another program. */
export async function connectAs(port: number, database: string): Promise<pg.Client> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password: PASSWORD,
    database,
    types: TYPES,
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

const { JSONB } = pg.types.builtins;
const TYPES = {
  getTypeParser: ((id: number, format?: 'text' | 'binary') =>
    id === JSONB
      ? (text: string) => text
      : pg.types.getTypeParser(id, format as 'text')) as typeof pg.types.getTypeParser,
};

/** The parser of `pg` never ends at these bytes of a server. */
export const ENDLESS = 'E\0\0\0\x05M';
/** A message of a gigabyte, of which ever more comes. */
export const HUGE = `D\x40\0\0\0${'x'.repeat(16_000_000)}`;

const BLOCKED = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/** Waits until a session of this database waits for a lock. */
export async function waitForBlocked({ query }: Postgres): Promise<void> {
  await expect.poll(() => query(BLOCKED), { interval: 20, timeout: 20_000 }).not.toEqual([]);
}

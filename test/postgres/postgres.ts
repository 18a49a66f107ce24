import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeEach, expect, inject, onTestFinished } from 'vitest';
import type { Row } from '../support/database.ts';
import { missingPostgres, PASSWORD, SUPERUSER } from './server.ts';

/** A database of its own. */
export type Postgres = {
  /** For the program, as a role that may create a schema and owns nothing else. */
  readonly url: string;
  readonly role: string;
  /** As the superuser. Integers of 64 bits arrive as texts, instants as Date, JSON as text. */
  readonly query: (sql: string, ...values: readonly unknown[]) => Promise<readonly Row[]>;
  readonly name: string;
  readonly port: number;
};

/** Skips the tests of a file on a machine without a server. */
export function skipWithoutPostgres(): void {
  beforeEach(({ skip }) => {
    const why = missingPostgres();
    if (why !== undefined) skip(why);
  });
}

export const MIRROR_PASSWORD = 'mirror-password:@/?';

/** Ends with the test. */
export async function createPostgres(port = inject('postgresPort')): Promise<Postgres> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = await connectAs(port, 'postgres');
  // Every connection of its own: the server may be restarted by a test.
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD '${MIRROR_PASSWORD}'`);
  await admin.query(`GRANT CREATE ON DATABASE ${name} TO ${name}`);
  await admin.end();
  const query: Postgres['query'] = async (sql, ...values) => {
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

const BLOCKED = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/** Waits until a session of this database waits for a lock. */
export async function waitForBlocked({ query }: Postgres): Promise<void> {
  await expect.poll(() => query(BLOCKED), { interval: 20, timeout: 20_000 }).not.toEqual([]);
}

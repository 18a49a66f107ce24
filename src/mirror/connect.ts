import { readFileSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { type ConnectionOptions, getCACertificates, TLSSocket } from 'node:tls';
import { Client } from 'pg';
import type { MirrorTarget } from '../config/mirror.ts';
import type { PostgresServer } from '../config/postgres-url.ts';
import { codeOf, SettingsError } from '../errors.ts';
import { quoteIdentifier, toMirrorError } from './error.ts';

// The only place that knows `pg`. It runs in a process of its own: see process.ts.

const CONNECT_TIMEOUT_MS = 10_000;
const LOCK_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 60_000;
/** If a worker vanishes in a transaction, the server ends it after this time; until then mirror_state stays locked. */
const IDLE_TIMEOUT_MS = 15_000;
/** Longer than the server's own limits, so that their errors arrive if the server is alive. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000;

export type Row = Readonly<Record<string, unknown>>;

type Query = (sql: string, ...values: readonly (string | number | null)[]) => Promise<readonly Row[]>;

export type Transaction = {
  /** In statements, `"name"` is the relation of that name, or during a rebuild the new one that replaces it. */
  readonly query: Query;
  /** Leaves names as they are. */
  readonly queryAsIs: Query;
};

/** One connection. Its methods reject with a RunError, after which it is closed. */
export type Session = Disposable & {
  readonly target: MirrorTarget;
  /** Such as `TLSv1.3, certificate verified`; undefined without TLS. */
  readonly tls: string | undefined;
  readonly transaction: <T>(work: (tx: Transaction) => Promise<T>, suffix?: string) => Promise<T>;
};

/** Rejects with a RunError or a SettingsError. */
export async function connect(target: MirrorTarget): Promise<Session> {
  try {
    return openSession(await openClient(target), target);
  } catch (error) {
    throw error instanceof SettingsError ? error : toMirrorError(error, target);
  }
}

async function openClient({ server }: MirrorTarget): Promise<Client> {
  const options = { ...tlsOptions(server), server };
  if (server.sslmode !== 'prefer' && server.sslmode !== 'allow') return startClient(options);
  try {
    return await startClient(options);
  } catch (error) {
    if (!isTlsRefused(error)) throw error;
    return startClient({ ...options, ssl: false });
  }
}

/** The server has no TLS, or does not let this role in over it. */
function isTlsRefused(error: unknown): boolean {
  const hasNone = error instanceof Error && error.message === 'The server does not support SSL connections';
  return hasNone || codeOf(error) === '28000';
}

type ClientOptions = { readonly server: PostgresServer; readonly ssl: false | ConnectionOptions };

async function startClient({ server, ssl }: ClientOptions): Promise<Client> {
  const { host, port, user, database, options, applicationName } = server;
  const client = new Client({
    ...{ host, port, user, database, ssl },
    // A function, since `pg` would replace an empty password by one that it finds itself.
    password: () => server.password ?? '',
    ...(options === undefined ? {} : { options }),
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
  });
  // Without a listener, a connection that the server ends would end the process.
  client.on('error', () => undefined);
  const { connection } = client;
  limitReceived(connection.stream as Socket);
  connection.once('sslconnect', () => limitReceived(connection.stream as Socket));
  try {
    await client.connect();
    return client;
  } catch (error) {
    destroy(client);
    throw error;
  }
}

/** What a server sends to this client is small: `pg` keeps a message until it is whole, however long it says it is. */
const MAX_RECEIVED_BYTES = 8_000_000;

/** Ends the connection when the server has sent too much. */
function limitReceived(stream: Socket): void {
  let received = 0;
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > MAX_RECEIVED_BYTES) stream.destroy(new Error('it sent more than any PostgreSQL server would'));
  });
}

/** As libpq reads `sslmode`: below `verify-ca`, the certificate is verified only if there is a root certificate. */
function tlsOptions({ sslmode, ...files }: PostgresServer): Pick<ClientOptions, 'ssl'> {
  if (sslmode === 'disable') return { ssl: false };
  const [root, cert, key] = (['sslrootcert', 'sslcert', 'sslkey'] as const).map((name) =>
    readTlsFile(files[name], name),
  );
  const ca = root === undefined ? undefined : [root, ...getCACertificates('extra')];
  if (sslmode === 'verify-full') return { ssl: { cert, key, ca } };
  if (sslmode === 'verify-ca' || root !== undefined)
    return { ssl: { cert, key, ca, checkServerIdentity: () => undefined } };
  return { ssl: { cert, key, rejectUnauthorized: false } };
}

const MAX_TLS_BYTES = 16 * 2 ** 20;

function readTlsFile(file: string | undefined, name: string): string | undefined {
  // `system` is libpq's name for the certificates that are trusted anyway.
  if (file === undefined || (file === 'system' && name === 'sslrootcert')) return undefined;
  const fault = (what: string, fix: string) =>
    new SettingsError([{ message: `LEAGUE_SYNC_POSTGRES_URL: the ${name} ${file} ${what}`, fix }]);
  try {
    const stats = statSync(file);
    // Reading a pipe or a device might never end.
    if (!stats.isFile()) throw fault('is not a regular file', 'use a regular file');
    if (stats.size > MAX_TLS_BYTES) throw fault('is larger than 16MB', 'use a smaller one');
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    throw fault(`cannot be read (${codeOf(error) || 'unknown error'})`, 'check its path and permissions');
  }
}

/** Ends the connection without waiting for the server. */
function destroy(client: Client): void {
  client.connection.stream.destroy();
}

function openSession(client: Client, target: MirrorTarget): Session {
  return {
    target,
    tls: describeTls(client.connection.stream),
    transaction: async (work, suffix = '') => {
      try {
        // At REPEATABLE READ, which a role may have as its default, locking mirror_state fails if another process has just
        // written it.
        await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
        await client.query(SET_LOCAL, [quoteIdentifier(target.schema)]);
        const queryAsIs: Query = async (sql, ...values) =>
          // Without values, one text may hold several statements.
          (await (values.length === 0 ? client.query(sql) : client.query(sql, [...values]))).rows ?? [];
        const query: Query = (sql, ...values) => queryAsIs(sql.replace(/"([a-z_]+)"/g, `"$1${suffix}"`), ...values);
        const result = await work({ query, queryAsIs });
        await client.query('COMMIT');
        return result;
      } catch (error) {
        // The server rolls back. After a time limit, the connection could not be used anyway.
        destroy(client);
        throw toMirrorError(error, target);
      }
    },
    [Symbol.dispose]: () => {
      // Tells the server, but does not wait for it.
      client.end().catch(() => undefined);
      const { stream } = client.connection;
      if (stream instanceof Socket) stream.unref();
    },
  };
}

/** For each transaction, since poolers change connections. They override the role: `pg` parses only ISO instants. */
const SET_LOCAL = `SELECT set_config('search_path', $1, true), set_config('datestyle', 'ISO', true),
  set_config('standard_conforming_strings', 'on', true), set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true),
  set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', true),
  set_config('idle_in_transaction_session_timeout', '${IDLE_TIMEOUT_MS}', true)`;

function describeTls(stream: unknown): string | undefined {
  if (!(stream instanceof TLSSocket)) return undefined;
  return `${stream.getProtocol()}, certificate ${stream.authorized ? 'verified' : 'not verified'}`;
}

import type { Config } from '../config/config.ts';
import { createClient } from './client.ts';
import { type ConnectionOptions, createConnection } from './connection.ts';
import { createLogIn, type LoginRecord } from './login.ts';
import { startDeadline } from './retry.ts';
import { createSession, type SessionOptions } from './session.ts';

export type Service = ReturnType<typeof openService>;

type ServiceConfig = Parameters<typeof createConnection>[0] &
  Pick<Config, 'loginLeewayMs' | 'runTimeoutMs'> &
  Pick<SessionOptions, 'credentials'>;

type ServiceOptions = ConnectionOptions &
  Pick<SessionOptions, 'firstReason' | 'barredBy' | 'signal'> & { readonly onLogin?: (login: LoginRecord) => void };

/** Creates a client and its session; sends nothing yet. Disposal aborts a login in progress and awaits its end. */
export function openService(config: ServiceConfig, options: ServiceOptions) {
  const { credentials, loginLeewayMs: leewayMs, runTimeoutMs } = config;
  const { firstReason, barredBy, onLogin = () => undefined, signal } = options;
  const connection = createConnection(config, options);
  const logIn = createLogIn(connection, onLogin);
  const limits = { leewayMs, loginTimeoutMs: runTimeoutMs };
  const session = createSession({ ...connection, ...limits, logIn, credentials, firstReason, barredBy, signal });
  return {
    ...connection,
    client: createClient(connection, session),
    session,
    /** Starts the time limit of a run. */
    startDeadline: () => startDeadline(connection.clock, runTimeoutMs, signal),
    [Symbol.asyncDispose]: session[Symbol.asyncDispose],
  };
}

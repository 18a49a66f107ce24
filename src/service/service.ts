import type { Config } from '../config/config.ts';
import type { Credentials } from '../config/credentials.ts';
import { StoppedError } from '../errors.ts';
import { createClient } from './client.ts';
import type { ServiceConnection } from './connection.ts';
import { createLogIn, type LoginRecord } from './login.ts';
import { startDeadline } from './retry.ts';
import { createSession, type SessionOptions } from './session.ts';

export type Service = ReturnType<typeof openService>;

/** Creates a client and its session; sends nothing yet. Disposal aborts a login in progress and awaits its end. */
export function openService(
  config: Pick<Config, 'loginLeewayMs' | 'runTimeoutMs'> & { readonly credentials: Credentials },
  connection: ServiceConnection,
  options: Pick<SessionOptions, 'firstReason' | 'barredBy' | 'signal'> & { onLogin: (login: LoginRecord) => void },
) {
  const { firstReason, barredBy, onLogin, signal } = options;
  const ending = new AbortController();
  const session = createSession({
    ...connection,
    logIn: createLogIn(connection, onLogin),
    credentials: config.credentials,
    leewayMs: config.loginLeewayMs,
    loginTimeoutMs: config.runTimeoutMs,
    firstReason,
    barredBy,
    signal: AbortSignal.any([signal, ending.signal]),
  });
  const dispose = async (): Promise<void> => {
    ending.abort(new StoppedError());
    await session.settled();
  };
  return {
    ...connection,
    client: createClient(connection, session),
    session,
    /** Starts the time limit of a run. */
    startDeadline: () => startDeadline(connection.clock, config.runTimeoutMs, signal),
    [Symbol.asyncDispose]: dispose,
  };
}

import type { Config } from '../config/config.ts';
import { type Client, createClient, type TokenSource } from '../service/client.ts';
import { createLogIn, type LoginRecord } from '../service/login.ts';
import type { Deadline } from '../service/retry.ts';
import { type Connection, connect, createTransport } from '../service/service.ts';
import type { Token } from '../service/token.ts';

/** One look at the service: one attempt each, nothing is recorded, and no token outlives it. */
export type OneShotClient = Pick<Connection, 'drift' | 'retryAfter'> & {
  /** Logs in and tells what would be recorded of it. Rejects with a RunError. */
  readonly logIn: () => Promise<{ readonly login: LoginRecord | undefined; readonly tookMs: number }>;
  /** What the service offers to whoever has logged in by this. */
  readonly client: Client;
  /** Lets a request have one attempt. */
  readonly once: () => Deadline;
};

/** Nothing is sent yet. */
export function createOneShotClient(config: Config, signal: AbortSignal): OneShotClient {
  const connection = connect(createTransport(config));
  let login: LoginRecord | undefined;
  let token: Token | undefined;
  const logIn = createLogIn({
    ...connection,
    onLogin: (made) => {
      login = made;
    },
  });
  return {
    ...connection,
    logIn: async () => {
      token = await logIn('manual', config.credentials, signal);
      return { login, tookMs: token.tookMs };
    },
    client: createClient({ ...connection, session: oneTokenSession(() => token) }),
    // Any wait would reach past this, so that nothing is tried again; the transport has its own limit for a request.
    once: () => ({ at: connection.clock.monotonic(), signal }),
  };
}

/** A token that is rejected is a fresh one here, and no better one is to be had. */
function oneTokenSession(current: () => Token | undefined): TokenSource {
  return {
    token: async () => {
      const token = current();
      if (token === undefined) throw new Error('something was asked for before the login');
      return { token, isTrial: true };
    },
    accept: () => undefined,
    discard: () => undefined,
    reportRejected: (_resource, _token, error) => error,
  };
}

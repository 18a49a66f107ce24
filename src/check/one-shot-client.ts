import type { Config } from '../config/config.ts';
import { type Client, createClient, type TokenSource } from '../service/client.ts';
import { createLogIn } from '../service/login.ts';
import type { Deadline } from '../service/retry.ts';
import { type Connection, connect, createTransport } from '../service/service.ts';
import type { Token } from '../service/token.ts';

/** One look at the service: one attempt each, nothing is recorded, and no token outlives it. */
export type OneShotClient = Pick<Connection, 'drift' | 'retryAfter'> & {
  /** Rejects with a RunError. */
  readonly logIn: () => Promise<Token>;
  /** To be used after `logIn`. */
  readonly client: Client;
  /** Lets a request have one attempt. */
  readonly once: () => Deadline;
};

/** Nothing is sent yet. */
export function createOneShotClient(config: Config, signal: AbortSignal): OneShotClient {
  const connection = connect(createTransport(config));
  const logIn = createLogIn({ ...connection, onLogin: () => undefined });
  let token: Token | undefined;
  const session: TokenSource = {
    token: async () => {
      if (token === undefined) throw new Error('something was asked for before the login');
      // If it is rejected, no better one is to be had.
      return { token, isTrial: true };
    },
    accept: () => undefined,
    discard: () => undefined,
    reportRejected: (_resource, _token, error) => error,
  };
  return {
    ...connection,
    logIn: async () => {
      token = await logIn('manual', config.credentials, signal);
      return token;
    },
    client: createClient({ ...connection, session }),
    // Any wait would reach past this, so that nothing is tried again; a request has its own limit.
    once: () => ({ at: connection.clock.monotonic(), signal }),
  };
}

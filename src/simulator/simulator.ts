import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { churn, startChurn } from './churn.ts';
import { refuseMalformed } from './deliver.ts';
import bundled from './leagues.json' with { type: 'json' };
import { createListener } from './listener.ts';
import { createRandom } from './random.ts';
import { createRequestRecord, type SeenRequest } from './record.ts';
import { createSwitchboard } from './switchboard.ts';
import { createTokenIssuer } from './token.ts';

const SEED = 20_261_120;
const TOKEN_LIFE_MS = 3_600_000;

export type { SeenRequest };

export type SimulatorOptions = {
  /** Defaults to a bundled list of real leagues. */
  readonly leagues?: readonly unknown[];
  readonly username?: string;
  readonly password?: string;
  readonly tokenLifeMs?: number;
  /** How often the leagues change; 0, the default, never. */
  readonly churnMs?: number;
  /** Names of faults that are on from the start. */
  readonly faults?: readonly string[];
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly host?: string;
  readonly onRequest?: (seen: SeenRequest) => void;
  /** Told of the faults that are on, after every switching over HTTP. */
  readonly onSwitched?: (active: readonly string[]) => void;
  readonly now?: () => number;
};

export type Simulator = AsyncDisposable & {
  /** What a client takes for {base_url}. */
  readonly url: string;
  /** The newest 10,000 requests, oldest first; the list goes on growing while the simulator runs. */
  readonly requests: readonly SeenRequest[];
  setLeagues(leagues: readonly unknown[]): void;
  leagues(): readonly unknown[];
  /** Throws a RangeError, naming the known faults, where there is no such fault. */
  setFault(name: string, on: boolean): void;
  /** The names of the faults that are on. */
  faults(): string[];
  /** For the tokens issued from now on. */
  setTokenLife(lifeMs: number): void;
  /** Makes every token issued so far unknown. */
  revokeTokens(): void;
  /** Ends hanging connections too. */
  close(): Promise<void>;
};

/**
 * Starts a stateful copy of the service behind the interface, over real HTTP, that can be made to fail.
 * Throws a RangeError for an unknown fault, and what node throws where the address cannot be bound.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { username = 'player', password = 'secret-password', now = Date.now, onSwitched = () => {} } = options;
  const tokens = createTokenIssuer(options.tokenLifeMs ?? TOKEN_LIFE_MS);
  const switchboard = createSwitchboard(tokens);
  for (const name of options.faults ?? []) switchboard.set(name, true);
  const record = createRequestRecord(options.onRequest ?? (() => {}));
  const random = createRandom(SEED);
  let state = startChurn(options.leagues ?? bundled.leagues);

  const service = { username, tokens, leagues: () => state.listed, now };
  const server = createPlainServer(
    createListener({ service, credentials: { username, password }, switchboard, onSwitched, record, random }),
  );
  const url = await listen(server, options);
  const stopChurn = every(options.churnMs ?? 0, () => {
    state = churn(state, random, now());
  });
  const close = closeOnce(server, stopChurn);
  return {
    url,
    requests: record.requests,
    setLeagues(leagues) {
      state = startChurn(leagues);
    },
    leagues: service.leagues,
    setFault: switchboard.set,
    faults: switchboard.active,
    setTokenLife: tokens.setLife,
    revokeTokens: tokens.revokeAll,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function createPlainServer(listener: ReturnType<typeof createListener>): Server {
  // Node answers a missing Host or an unknown Expect by itself, without the result=fail of every other failure.
  const server = createServer({ requireHostHeader: false }, listener);
  return server.on('checkExpectation', listener).on('clientError', refuseMalformed);
}

async function listen(server: Server, { port = 0, host = '127.0.0.1' }: SimulatorOptions): Promise<string> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the simulator did not bind a TCP port');
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

function every(intervalMs: number, step: () => void): () => void {
  if (intervalMs === 0) return () => {};
  const timer = setInterval(step, intervalMs).unref();
  return () => clearInterval(timer);
}

function closeOnce(server: Server, stopChurn: () => void): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const close = async () => {
    stopChurn();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return () => {
    closing ??= close();
    return closing;
  };
}

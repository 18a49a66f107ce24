import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { churn, createRandom, startChurn } from './churn.ts';
import { type Controls, createRequestLog, type SeenRequest } from './control.ts';
import { createFaultSwitches } from './faults.ts';
import { createHandler, refuseMalformed } from './handler.ts';
import bundled from './leagues.json' with { type: 'json' };
import { createTokenIssuer } from './tokens.ts';

const SEED = 20_261_120;
const TOKEN_LIFE_MS = 3_600_000;

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
  readonly onSwitched?: Controls['onSwitched'];
  readonly now?: () => number;
};

export type Simulator = Awaited<ReturnType<typeof startSimulator>>;

/**
 * Starts a stateful copy of the service behind the interface, over real HTTP, that can be made to fail.
 * Throws a RangeError for an unknown fault, and what node throws if the address cannot be bound.
 */
export async function startSimulator(options: SimulatorOptions = {}) {
  const { username = 'player', password = 'secret-password', now = Date.now, onSwitched = () => {} } = options;
  const tokens = createTokenIssuer(options.tokenLifeMs ?? TOKEN_LIFE_MS);
  const switches = createFaultSwitches(tokens);
  for (const name of options.faults ?? []) switches.set(name, true);
  const log = createRequestLog(options.onRequest ?? (() => {}));
  const random = createRandom(SEED);
  let state = startChurn(options.leagues ?? bundled.leagues);

  const service = { username, password, tokens, leagues: () => state.listed, now };
  const handler = createHandler({ service, switches, onSwitched, log, random });
  // Node answers a missing Host or an unknown Expect by itself, without the result=fail of every other failure.
  const server = createServer({ requireHostHeader: false }, handler)
    .on('checkExpectation', handler)
    .on('clientError', refuseMalformed);
  const url = await listen(server, options);
  const step = () => {
    state = churn(state, random, now());
  };
  const churning = options.churnMs ? setInterval(step, options.churnMs).unref() : undefined;
  const closed = once(server, 'close');
  const close = async () => {
    clearInterval(churning);
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    /** What a client takes for {base_url}. */
    url,
    /** The newest 10,000, oldest first; the list goes on growing while the simulator runs. */
    requests: log.requests,
    leagues: service.leagues,
    setLeagues(leagues: readonly unknown[]) {
      state = startChurn(leagues);
    },
    setFault: switches.set,
    faults: switches.active,
    setTokenLife: tokens.setLife,
    revokeTokens: tokens.revokeAll,
    /** Ends hanging connections too. */
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function listen(server: Server, { port = 0, host = '127.0.0.1' }: SimulatorOptions): Promise<string> {
  server.listen(port, host);
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
}

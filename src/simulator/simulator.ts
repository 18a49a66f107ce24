import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { churn, createRandom, startChurn } from './churn.ts';
import { createTokenIssuer } from './endpoints.ts';
import { createFaultSwitches } from './faults.ts';
import { createHandler, type LoggedRequest } from './handler.ts';
import bundled from './leagues.json' with { type: 'json' };
import { createReceiver } from './receiver.ts';

const SEED = 20_261_120;
const TOKEN_LIFE_MS = 3_600_000;
const HOST = '127.0.0.1';

export type SimulatorOptions = {
  /** Default: a bundled list of real leagues. */
  readonly leagues?: readonly unknown[];
  readonly username?: string;
  readonly password?: string;
  readonly tokenLifeMs?: number;
  /** Interval (ms) between changes of the leagues; 0 (the default) means never. */
  readonly churnMs?: number;
  readonly faults?: readonly string[];
  /** If it is 0 (the default), the system chooses a free port. */
  readonly port?: number;
  readonly onRequest?: (request: LoggedRequest) => void;
  readonly onSwitched?: (active: readonly string[]) => void;
  readonly now?: () => number;
};

export type Simulator = Awaited<ReturnType<typeof startSimulator>>;

/** Rejects with a RangeError for an unknown fault, and with Node's error if the address cannot be bound. */
export async function startSimulator(options: SimulatorOptions = {}) {
  const { username = 'player', password = 'secret-password', port = 0, now = Date.now } = options;
  const { onSwitched = () => {}, onRequest = () => {} } = options;
  const tokens = createTokenIssuer(options.tokenLifeMs ?? TOKEN_LIFE_MS);
  const switches = createFaultSwitches(options.faults ?? [], tokens, onSwitched);
  const receiver = createReceiver();
  const random = createRandom(SEED);
  let state = startChurn(options.leagues ?? bundled.leagues);
  const requests: LoggedRequest[] = [];
  const service = { username, password, tokens, leagues: () => state.listed, now };
  const server = createServer(createHandler({ service, receiver, switches, requests, onRequest }));
  server.listen(port, HOST);
  await once(server, 'listening');
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
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    /** The newest 10,000 requests, oldest first. The list keeps changing. */
    requests: requests as readonly LoggedRequest[],
    leagues: service.leagues,
    setLeagues(leagues: readonly unknown[]) {
      state = startChurn(leagues);
    },
    setFault: switches.set,
    faults: switches.active,
    revokeTokens: tokens.revokeAll,
    close,
    [Symbol.asyncDispose]: close,
  };
}

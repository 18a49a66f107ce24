import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// A service with minimal overhead: its responses are encoded in advance. No ETag and no compression; each response has
// its own "timestamp". It runs in a separate process, controlled by messages.

const TOKEN_LIFE_MS = 86_400_000;
const LONGEST_TAIL_BYTES = 200;

let leagues: Buffer = Buffer.from('{"message":"","leagues":[],"timestamp":null}');
/** The offset of the timestamp in `leagues`; -1 if there is none. */
let timestampAt = -1;
let firstRequestAt: number | undefined;

const server = createServer((request, response) => {
  firstRequestAt ??= performance.timeOrigin + performance.now();
  request.resume();
  if (request.url?.startsWith('/events/v1/leagues/')) return answer(response, stamped());
  if (request.url === '/players/v1/authenticate/login') return answer(response, login());
  answer(response, PROFILE);
});

const PROFILE = Buffer.from(
  JSON.stringify({
    message: 'Player retrieved',
    player: { player_id: 'player-1', username: 'player', email: 'player@example.com', type: 'player', verified: true },
    player_premium_items: [],
    result: 'success',
  }),
);

function answer(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

function login(): Buffer {
  const expire_datetime = new Date(Date.now() + TOKEN_LIFE_MS).toISOString();
  const tokens = { access_token: 'access-token-of-the-bench', refresh_token: 'refresh-token-of-the-bench' };
  const message = 'Login successful';
  return Buffer.from(JSON.stringify({ result: 'success', message, player_id: 'player-1', ...tokens, expire_datetime }));
}

/** The response with the current timestamp, written into the existing buffer. */
function stamped(): Buffer {
  if (timestampAt >= 0) leagues.write(new Date().toISOString(), timestampAt);
  return leagues;
}

process.on('message', (message: { readonly serve?: string }) => {
  if (message.serve !== undefined) {
    leagues = readFileSync(message.serve);
    const name = '"timestamp":"';
    const found = leagues.subarray(-LONGEST_TAIL_BYTES).indexOf(name);
    const tail = Math.max(0, leagues.length - LONGEST_TAIL_BYTES);
    timestampAt = found < 0 ? -1 : tail + found + name.length;
  }
  process.send?.({ firstRequestAt });
  firstRequestAt = undefined;
});
process.on('disconnect', () => process.exit());
// Outlasts the time between two polls of a worker that keeps its connection open.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

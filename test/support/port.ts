import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { onTestFinished, TestRunner } from 'vitest';

/** A listener on loopback. */
export type Port = AsyncDisposable & {
  readonly port: number;
  /** The number of connections so far, including failed ones. */
  readonly connections: () => number;
};

/**
 * Starts a server on a free port of loopback. The server and its connections end with the test, or when it is disposed
 * of, as concurrent tests have to.
 */
export async function openPort(server: Server): Promise<Port> {
  const open = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    // Connections are broken by the other side on purpose.
    socket.on('error', () => undefined);
    socket.once('close', () => open.delete(socket));
  });
  const end = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server.close(), 'close');
    for (const socket of open) socket.destroy();
    await closed;
  };
  // Vitest confuses concurrent tests.
  const test = TestRunner.getCurrentTest();
  if (test !== undefined && !test.concurrent) onTestFinished(end);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP port was bound');
  return { port: address.port, connections: () => connections, [Symbol.asyncDispose]: end };
}

/** A port that was free a moment ago, for programs that take a number. */
export async function findFreePort(): Promise<number> {
  await using server = await openPort(createServer());
  return server.port;
}

/** Relays everything in both directions; if one side ends, so does the other. */
export function couple(one: Socket, other: Socket): void {
  handOn(one, other);
  handOn(other, one);
}

function handOn(from: Socket, to: Socket): void {
  from.on('error', () => undefined);
  from.once('close', () => to.destroy());
  from.pipe(to);
}

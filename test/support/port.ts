import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Something that listens on loopback. */
export type Port = {
  readonly port: number;
  /** How many connections have been made to it, including failed ones. */
  readonly connections: () => number;
};

/** Has a server listen on a free port of loopback. It ends with the test, and its connections with it. */
export async function openPort(server: Server): Promise<Port> {
  const open = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    // The other side breaks connections in these tests; that is no fault of the server.
    socket.on('error', () => undefined);
    socket.once('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    const closed = once(server.close(), 'close');
    for (const socket of open) socket.destroy();
    await closed;
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP port was bound');
  return { port: address.port, connections: () => connections };
}

/** Hands everything on, both ways; where one side ends, the other one does. */
export function couple(one: Socket, other: Socket): void {
  handOn(one, other);
  handOn(other, one);
}

function handOn(from: Socket, to: Socket): void {
  from.on('error', () => undefined);
  from.once('close', () => to.destroy());
  from.pipe(to);
}

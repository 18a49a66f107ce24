import { connect, createServer, type Socket } from 'node:net';
import { couple, openPort } from '../../support/port.ts';

export type HalfOpenRelay = Awaited<ReturnType<typeof openRelay>>;

/** A relay to a port of loopback whose connections can be made half-open: both sides stay up and nothing arrives. */
export async function openRelay(port: number) {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;
  const relay = createServer((socket) => {
    const upstream = connect(port, '127.0.0.1');
    const pair = [socket, upstream] as const;
    couple(...pair);
    pairs.add(pair);
    socket.once('close', () => pairs.delete(pair));
    if (isCut) silence(pair);
  });
  return {
    ...(await openPort(relay)),
    /** Cuts all connections that there are, and new ones until `heal`. */
    cut: (): void => {
      isCut = true;
      for (const pair of pairs) silence(pair);
    },
    /** Relays new connections again. Those that were cut stay so, or are reset, as a router does that has restarted. */
    heal: (how: 'silent' | 'reset'): void => {
      isCut = false;
      if (how === 'reset') for (const [socket] of pairs) socket.resetAndDestroy();
    },
  };
}

function silence([socket, upstream]: readonly [Socket, Socket]): void {
  // Nor is the client told that the server has ended the connection.
  upstream.removeAllListeners('close');
  for (const end of [socket, upstream]) {
    end.unpipe();
    // What arrives is read and forgotten.
    end.resume();
  }
}

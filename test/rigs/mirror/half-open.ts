import { connect, createServer, type Socket } from 'node:net';
import { couple, openPort, type Port } from '../../support/port.ts';

/** A relay to a port of loopback whose connections can be made half-open: both sides stay up and nothing arrives. */
export type HalfOpenRelay = Port & {
  /** Of all connections that there are, and of new ones until `heal`. */
  readonly cut: () => void;
  /** Relays new connections again. Those that were cut stay so, or are reset, as a router does that has restarted. */
  readonly heal: (how: 'silent' | 'reset') => void;
};

export async function openRelay(port: number): Promise<HalfOpenRelay> {
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
    cut: () => {
      isCut = true;
      for (const pair of pairs) silence(pair);
    },
    heal: (how) => {
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

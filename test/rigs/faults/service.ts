import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Fault } from './fault.ts';
import { type Answer, healthyAnswer, kindOf, type Lists, readRequest, render, type Visited } from './response.ts';

/** The requests of a visit that meet the fault: one, all from that one on, or all of its kind from that one on. */
export type FaultScope = 'once' | 'for ever' | 'for ever there';

/** A service on a raw TCP port, so that a response may be any bytes, or none. */
export type SweepService = AsyncDisposable & {
  readonly url: string;
  /** The kinds of the requests since the last `arm` or `recover`, oldest first; empty if the port was closed. */
  readonly seen: readonly Visited[];
  /** Switches between the new and the old leagues, starting with the new ones. */
  readonly turn: () => void;
  /** The n-th request from now on meets the fault. */
  readonly arm: (fault: Fault, nth: number, faultScope: FaultScope) => Promise<void>;
  /** Called before the client waits: a service that refused connections only once listens again. */
  readonly waited: () => Promise<void>;
  readonly recover: () => Promise<void>;
  /** Whether the next request ends only by its timeout. */
  readonly hangs: () => boolean;
};

type ArmedFault = { readonly fault: Fault; readonly nth: number; readonly faultScope: FaultScope };

export async function startSweepService(lists: Lists, now: () => number): Promise<SweepService> {
  const sockets = new Set<Socket>();
  const seen: Visited[] = [];
  const session = { tokens: 0, valid: '', turned: false };
  let armed: ArmedFault | undefined;
  let server: Server | undefined;
  let port = 0;
  let hits = 0;

  const meets = (index: number, kind: Visited['kind']): boolean => {
    if (armed === undefined || index < armed.nth) return false;
    if (armed.faultScope === 'once') return index === armed.nth;
    return armed.faultScope === 'for ever' || kind === seen[armed.nth - 1]?.kind;
  };
  const concerns = (kind: Visited['kind']): boolean => kind !== 'unknown' && armed?.fault.effects[kind] !== undefined;
  const refuses = (): boolean => armed?.fault.refuses === true && meets(seen.length + 1, 'unknown');

  const serve = async (socket: Socket): Promise<void> => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const index = seen.length + 1;
    const visited: Visited = { kind: 'unknown', at: now() };
    seen.push(visited);
    if (armed?.fault.atAccept !== undefined && meets(index, 'unknown')) return armed.fault.atAccept(socket);
    const request = await readRequest(socket);
    if (request === undefined) return;
    visited.kind = kindOf(request);
    const hit = meets(index, visited.kind) && concerns(visited.kind) ? armed?.fault : undefined;
    const answer: Answer = healthyAnswer(visited.kind, request, { lists, session, now });
    if (hit?.revokes) session.valid = '';
    if (refuses()) close();
    if (hit?.act === undefined) socket.end(render(answer));
    else {
      hits += 1;
      hit.act(socket, answer, hits);
    }
  };
  const listen = async (): Promise<void> => {
    if (server !== undefined) return;
    server = createServer({ allowHalfOpen: true }, (socket) => void serve(socket));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address !== 'string') port = address.port;
  };
  const close = (): void => {
    server?.close();
    server = undefined;
  };

  await listen();
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    turn: () => {
      session.turned = !session.turned;
    },
    arm: async (fault, nth, faultScope) => {
      seen.length = 0;
      armed = { fault, nth, faultScope };
      hits = 0;
      if (refuses()) close();
    },
    waited: async () => {
      if (server === undefined && armed?.faultScope === 'once') await listen();
    },
    hangs: () => armed?.fault.hangs === true && meets(seen.length + 1, 'unknown'),
    recover: async () => {
      seen.length = 0;
      armed = undefined;
      await listen();
    },
    [Symbol.asyncDispose]: async () => {
      close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

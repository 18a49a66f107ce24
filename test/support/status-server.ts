import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { type Bench, setUpFor } from './bench.ts';
import { DEADLINE_MS, type Environment, eventually, type RunningProgram } from './program.ts';
import { listLeagues, startService } from './service.ts';

/** A worker with its status server, and the address. */
export type Served = {
  readonly bench: Bench;
  readonly worker: RunningProgram;
  readonly url: string;
  readonly port: number;
};

const LISTEN = { LEAGUE_SYNC_LISTEN: '127.0.0.1:0' };

/** Starts a worker on a free port, in a process of its own, and waits until it listens. */
export function serve(bench: Bench, env: Environment = {}): Promise<Served> {
  return whenListening(bench, bench.start(['run'], { ...LISTEN, ...env }));
}

/** The same in this process. */
export function serveHere(bench: Bench, env: Environment = {}): Promise<Served> {
  return whenListening(bench, bench.startWorker({ ...LISTEN, ...env }));
}

async function whenListening(bench: Bench, worker: RunningProgram): Promise<Served> {
  const { url } = await worker.waitForLog((line) => /^status page/.test(String(line.msg)));
  return { bench, worker, url: String(url), port: Number(new URL(String(url)).port) };
}

/** Serves a worker in this process that has polled these lists one after the other. Strings are elements in JSON. */
export async function serveLists(...[first = [], ...others]: readonly (readonly unknown[])[]) {
  const service = await startService({ leagues: listLeagues(first) });
  const served = await serveHere(setUpFor(service.url));
  await served.worker.waitForPoll();
  for (const list of others) {
    service.script('leagues', listLeagues(list));
    await served.worker.pollNow();
  }
  return { ...served, service };
}

/** The status and the reasons of `/readyz`. */
export async function readiness(url: string): Promise<readonly [number, readonly string[]]> {
  const answer = await fetch(`${url}/readyz`);
  const { reasons } = Object(await answer.json());
  return [answer.status, reasons.map(({ reason }: { readonly reason: string }) => reason)];
}

/** Polls `/readyz` until it has these reasons. */
export async function waitForReadiness(url: string, reasons: readonly string[]): Promise<void> {
  const expected = [reasons.length === 0 ? 200 : 503, reasons];
  await expect.poll(() => readiness(url), { timeout: DEADLINE_MS }).toEqual(expected);
}

/** A raw connection. */
export type Line = Awaited<ReturnType<typeof openLine>>;

/** Connects, and sends `says`. Ends with the test. */
export async function openLine(port: number, says: string | Buffer = '') {
  const socket = connect(port, '127.0.0.1');
  let heard = '';
  socket.on('data', (part) => {
    heard += part.toString('latin1');
  });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined);
  socket.write(says);
  return {
    socket,
    /** Everything received so far. */
    heard: () => heard,
    isClosed: () => socket.closed,
    waitForClose: () => eventually('the connection is closed', () => socket.closed && { heard }).then(() => heard),
    waitFor: (what: RegExp) => eventually(`${what} is heard`, () => what.test(heard) && { heard }).then(() => heard),
  };
}

import { once } from 'node:events';
import { connect } from 'node:net';
import type { ListenAddress } from '../config/listen.ts';
import { SettingsError } from '../errors.ts';
import { openDoor } from '../observe/server.ts';
import { explain, type Finding, fail, ok } from './finding.ts';

const NAME = 'listen';
const SETTING = 'LEAGUE_SYNC_LISTEN';
const MEND = 'name another address, or off';
const LONGEST_MS = 2_000;
/** Only some users may listen below. */
const FIRST_FREE_PORT = 1_024;

/** Whether the status page can be served there, or is: `isRunning` says whether a worker may be at work on the database. */
export async function lookAtListening(listen: ListenAddress | 'off', isRunning: boolean): Promise<Finding> {
  if (listen === 'off') return ok(NAME, `off: no status page, no probes, no metrics (${SETTING})`);
  const { host, port } = listen;
  const where = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  try {
    if (port === 0) return ok(NAME, `any free port of ${host}`);
    if (!(await isTaken(listen))) {
      // At another port, where it is nobody's loss, unless it is about the right to listen at this one.
      await using _door = await openDoor({ host, port: port < FIRST_FREE_PORT ? port : 0 }, () => new Response());
      return ok(NAME, `${where} is free`);
    }
    if (isRunning && (await isWorker(where))) return ok(NAME, `the worker answers at ${where}`);
    return fail(NAME, { message: `${SETTING}: another program has ${where} already`, mend: MEND });
  } catch (error) {
    if (error instanceof SettingsError) return fail(NAME, explain(error, MEND));
    throw error;
  }
}

async function isTaken(address: ListenAddress): Promise<boolean> {
  const socket = connect(address);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(LONGEST_MS) });
    return true;
  } catch {
    // Refused, or no address of this machine: which of the two is told by trying to listen.
    return false;
  } finally {
    socket.destroy();
  }
}

/** Whether what answers there does so as a worker. */
async function isWorker(where: string): Promise<boolean> {
  try {
    const answer = await fetch(`http://${where}/livez`, { signal: AbortSignal.timeout(LONGEST_MS) });
    const body: unknown = await answer.json();
    return answer.ok && typeof body === 'object' && body !== null && 'live' in body;
  } catch {
    return false;
  }
}

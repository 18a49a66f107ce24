import { once } from 'node:events';
import { connect } from 'node:net';
import { formatAddress, type ListenAddress } from '../config/settings.ts';
import { SettingsError } from '../errors.ts';
import { askLive } from '../observe/livez.ts';
import { replyText } from '../observe/reply.ts';
import { openDoor } from '../observe/server.ts';
import { explain, type Finding, fail, ok } from './finding.ts';

const NAME = 'listen';
const SETTING = 'LEAGUE_SYNC_LISTEN';
const FIX = 'name another address, or off';
const LONGEST_MS = 2_000;
/** Only some users may listen below. */
const FIRST_FREE_PORT = 1_024;

/** Whether the status page can be served there, or is: `isRunning` says whether a worker may be at work on the database. */
export async function lookAtListening(listen: ListenAddress | 'off', isRunning: boolean): Promise<Finding> {
  if (listen === 'off') return ok(NAME, `off: no status page, no probes, no metrics (${SETTING})`);
  const { host, port } = listen;
  const where = formatAddress(listen);
  try {
    if (port === 0) return ok(NAME, `any free port of ${host}`);
    if (!(await isTaken(listen))) {
      // At another port, where it is nobody's loss, unless it is about the right to listen at this one.
      await using _door = await openDoor({ host, port: port < FIRST_FREE_PORT ? port : 0 }, async () => replyText(''));
      return ok(NAME, `${where} is free`);
    }
    if (isRunning && (await askLive(listen, LONGEST_MS)) === undefined)
      return ok(NAME, `the worker answers at ${where}`);
    return fail(NAME, { message: `${SETTING}: another program has ${where} already`, fix: FIX });
  } catch (error) {
    if (error instanceof SettingsError) return fail(NAME, explain(error, FIX));
    throw error;
  }
}

async function isTaken(address: ListenAddress): Promise<boolean> {
  const socket = connect(address);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(LONGEST_MS) });
    // A proxy or a firewall may answer for an address that is not this machine's.
    return isOwn(socket.remoteAddress, socket.localAddress);
  } catch {
    // Refused, or no address of this machine: which of the two is told by trying to listen.
    return false;
  } finally {
    socket.destroy();
  }
}

/** A connection of a machine to itself has one address at both its ends. */
function isOwn(remote: string | undefined, local: string | undefined): boolean {
  return remote === local;
}

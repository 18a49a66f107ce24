import { formatAddress, type ListenAddress, SETTINGS } from '../config/setting-definitions.ts';
import { TransportError } from '../errors.ts';
import { sendRequest } from '../http/request.ts';
import { readObject } from '../http/response.ts';
import { formatDuration } from '../time/duration.ts';

/** A limit, since another program may listen on the port and send a longer response. */
const MAX_BODY_BYTES = 10_000;
/** A worker that listens on all addresses can be reached at the loopback address. */
const LOOPBACKS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The address that LEAGUE_SYNC_LISTEN sets; undefined if no worker can be asked there. */
export function findAddress(setting: string | undefined): ListenAddress | undefined {
  const { fallback, read } = SETTINGS.LEAGUE_SYNC_LISTEN;
  const address = read(setting?.trim() || fallback, 'LEAGUE_SYNC_LISTEN');
  return address === 'off' || address.port === 0 ? undefined : address;
}

export function probeUrl({ host, port }: ListenAddress, path: string): string {
  return `http://${formatAddress({ host: LOOPBACKS[host] ?? host, port })}${path}`;
}

function ask(address: ListenAddress, path: string, timeoutMs: number) {
  const limits = { timeoutMs, maxBodyBytes: MAX_BODY_BYTES, isBodyOptional: true };
  const request = { method: 'GET', url: probeUrl(address, path), name: path, ...limits } as const;
  return sendRequest(request, new AbortController().signal);
}

/** What `/readyz` says that the file cannot, such as that the disk is full; empty if it does not answer in time. */
export async function askFaults(address: ListenAddress, limitMs: number): Promise<readonly string[]> {
  try {
    const { reasons } = (await readObject((await ask(address, '/readyz', limitMs)).body)) ?? {};
    const faults = Array.isArray(reasons) ? reasons.filter((found) => found?.reason === 'database') : [];
    return faults.map(({ message }) => String(message));
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    return [];
  }
}

/** Resolves to undefined if a worker answers, otherwise to what went wrong, such as `was not answered within 5 s`. */
export async function checkLive(address: ListenAddress, limitMs: number): Promise<string | undefined> {
  try {
    const response = await ask(address, '/livez', limitMs);
    const isLive = response.status === 200 && (await readObject(response.body))?.live === true;
    return isLive ? undefined : `was answered with status ${response.status}, and not by league-sync`;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    if (error.code === '') return `was not answered within ${formatDuration(limitMs)}`;
    if (error.code === 'ECONNREFUSED') return 'refused the connection; no worker is running there';
    return `cannot be asked (${error.code})`;
  }
}

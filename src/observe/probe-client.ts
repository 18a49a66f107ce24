import { formatAddress, type ListenAddress } from '../config/settings.ts';
import { TransportError } from '../errors.ts';
import { sendRequest } from '../service/http.ts';
import { readObject } from '../service/response.ts';
import { formatDuration } from '../time/duration.ts';

/** A limit, since another program may listen on the port and send a longer response than `/livez`. */
const MAX_BODY_BYTES = 1_000;
/** A worker that listens on all addresses can be reached at the loopback address. */
const LOOPBACKS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export function livezUrl({ host, port }: ListenAddress): string {
  return `http://${formatAddress({ host: LOOPBACKS[host] ?? host, port })}/livez`;
}

/** Resolves to undefined if a worker answers, otherwise to what went wrong, such as `was not answered within 5 s`. */
export async function checkLive(address: ListenAddress, limitMs: number): Promise<string | undefined> {
  const limits = { timeoutMs: limitMs, maxBodyBytes: MAX_BODY_BYTES, truncateBody: true };
  const request = { method: 'GET', url: livezUrl(address), name: '/livez', ...limits } as const;
  try {
    const response = await sendRequest(request, new AbortController().signal);
    const isLive = response.status === 200 && (await readObject(response.body))?.live === true;
    return isLive ? undefined : `was answered with status ${response.status}, and not by league-sync`;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    if (error.code === '') return `was not answered within ${formatDuration(limitMs)}`;
    if (error.code === 'ECONNREFUSED') return 'refused the connection; no worker is running there';
    return `cannot be asked (${error.code})`;
  }
}

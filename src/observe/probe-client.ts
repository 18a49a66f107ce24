import { formatAddress, type ListenAddress } from '../config/settings.ts';
import { formatDuration } from '../duration.ts';
import { TransportError } from '../errors.ts';
import { sendRequest } from '../service/http.ts';
import { readObject } from '../service/response.ts';

/** `/livez` says less; another program at that port may say more. */
const LONGEST_ANSWER = 1_000;
/** Where a worker is reached that listens on all addresses. */
const LOOPBACKS: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

/** Where a worker that listens at this address says whether it is live. */
export function livezOf({ host, port }: ListenAddress): string {
  return `http://${formatAddress({ host: LOOPBACKS.get(host) ?? host, port })}/livez`;
}

/** What speaks against a live worker there, as the end of a sentence; undefined if there is one. */
export async function askLive(address: ListenAddress, limitMs: number): Promise<string | undefined> {
  const limits = { timeoutMs: limitMs, maxBodyBytes: LONGEST_ANSWER, cutsBody: true };
  const request = { method: 'GET', url: livezOf(address), name: '/livez', ...limits } as const;
  try {
    const response = await sendRequest(request, new AbortController().signal);
    const isLive = response.status === 200 && (await readObject(response))?.live === true;
    return isLive ? undefined : `was answered with status ${response.status}, and not by league-sync`;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    if (error.code === '') return `was not answered within ${formatDuration(limitMs)}`;
    if (error.code === 'ECONNREFUSED') return 'is not listened on; no worker is running there';
    return `cannot be asked (${error.code})`;
  }
}

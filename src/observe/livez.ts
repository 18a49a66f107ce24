import { get, type IncomingMessage } from 'node:http';
import { formatAddress, type ListenAddress } from '../config/settings.ts';
import { formatDuration } from '../duration.ts';
import { codeOf } from '../errors.ts';
import { isObject, parseJson } from '../json.ts';

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

/** What speaks against a live worker there, as the end of a sentence; undefined where there is one. */
export async function askLive(address: ListenAddress, limitMs: number): Promise<string | undefined> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    const { status, text } = await fetchText(livezOf(address), limit);
    return status === 200 && isLive(text) ? undefined : `was answered with status ${status}, and not by league-sync`;
  } catch (error) {
    if (limit.aborted) return `was not answered within ${formatDuration(limitMs)}`;
    if (codeOf(error) === 'ECONNREFUSED') return 'is not listened on; no worker is running there';
    return `cannot be asked (${codeOf(error) || 'unknown error'})`;
  }
}

function isLive(text: string): boolean {
  try {
    const answer = parseJson(text);
    return isObject(answer) && answer.live === true;
  } catch {
    return false;
  }
}

function fetchText(url: string, signal: AbortSignal): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, signal }, (answer: IncomingMessage) => {
      const end = (): void => resolve({ status: answer.statusCode ?? 0, text });
      let text = '';
      answer.setEncoding('utf8').on('error', reject).on('end', end);
      answer.on('data', (part: string) => {
        text += part;
        if (text.length <= LONGEST_ANSWER) return;
        end();
        request.destroy();
      });
    });
    request.on('error', reject);
  });
}

import { get, type IncomingMessage } from 'node:http';
import { DEFAULT_LISTEN, LISTEN_MEND, parseListen } from '../config/listen.ts';
import { codeOf, EXIT, SettingsError } from '../errors.ts';
import { isObject, parseJson } from '../json.ts';
import type { Command } from './host.ts';

const LIMIT_MS = 5_000;
/** `/livez` says less; another program at that port may say more. */
const LONGEST_ANSWER = 1_000;
/** Where a worker is reached that listens on all addresses. */
const LOOPBACKS: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

/** Asks the running worker whether it turns: for health checks. One line, and exit code 0 or 1. */
export const probe: Command<unknown> = async (host) => {
  const setting = host.settings().LEAGUE_SYNC_LISTEN?.trim() || DEFAULT_LISTEN;
  const address = parseListen(setting);
  if (address === undefined)
    throw new SettingsError([`LEAGUE_SYNC_LISTEN: "${setting}" cannot be used; ${LISTEN_MEND}`]);
  if (address === 'off' || address.port === 0) {
    await host.print(
      `LEAGUE_SYNC_LISTEN is ${setting}, so that nobody knows where to ask; name an address with a port`,
    );
    return EXIT.failed;
  }
  const url = urlOf(address);
  const fault = await ask(url);
  await host.print(`${url} ${fault ?? 'is live'}`);
  return fault === undefined ? EXIT.done : EXIT.failed;
};

function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const name = LOOPBACKS.get(host) ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}/livez`;
}

/** What speaks against the worker there being live; undefined where it is. */
async function ask(url: string): Promise<string | undefined> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  try {
    const { status, text } = await fetchText(url, limit);
    return status === 200 && isLive(text) ? undefined : `was answered with status ${status}, and not by league-sync`;
  } catch (error) {
    if (limit.aborted) return `was not answered within ${LIMIT_MS / 1_000} s`;
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

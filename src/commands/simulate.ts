import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { loadLogConfig } from '../config/config.ts';
import { codeOf, EXIT, UsageError } from '../errors.ts';
import { isObject, parseJson } from '../json.ts';
import type { Log } from '../log.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../simulator/simulator.ts';
import type { Command } from './host.ts';

export type SimulateOptions = Omit<SimulatorOptions, 'onRequest' | 'onSwitched' | 'now' | 'leagues' | 'host'> & {
  readonly leaguesFile?: string;
};

/** The simulated service, until it is stopped. */
export const simulate: Command<SimulateOptions> = async (host, { leaguesFile, ...options }) => {
  const log = await host.openLog(loadLogConfig(host.settings()), 1);
  const leagues = leaguesFile === undefined ? {} : { leagues: await readLeagues(leaguesFile) };
  await using simulator = await startOrExplain({
    ...options,
    ...leagues,
    onRequest: ({ method, path, status, token, basic }) =>
      log.debug({ method, path, http_status: status, token, basic }, 'request'),
    onSwitched: (active) => log.info({ faults: active }, `faults that are on: ${active.join(', ') || 'none'}`),
  });
  announceSimulator(log, simulator, options.faults ?? []);
  // The service's own socket keeps the process alive until then.
  if (!host.stop.aborted) await once(host.stop, 'abort');
  log.info('stopped');
  return EXIT.done;
};

function announceSimulator(log: Log, simulator: Simulator, faults: readonly string[]): void {
  log.info(
    { url: simulator.url, leagues: simulator.leagues().length, faults },
    `simulated service listens on ${simulator.url}`,
  );
  log.info(
    `switch a fault on with: curl -X PUT ${simulator.url}/_faults/drop-third (and off with DELETE; all of them: DELETE /_faults)`,
  );
}

async function startOrExplain(options: SimulatorOptions): Promise<Simulator> {
  try {
    return await startSimulator(options);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    const code = codeOf(error) || 'unknown error';
    throw new UsageError(
      `The simulated service cannot listen on port ${options.port} (${code}); name another with --port.`,
    );
  }
}

async function readLeagues(path: string): Promise<readonly unknown[]> {
  try {
    const content = parseJson(await readFile(path, 'utf8'));
    const leagues = isObject(content) ? content.leagues : content;
    if (Array.isArray(leagues)) return leagues;
  } catch (cause) {
    const why = cause instanceof SyntaxError ? 'it is not JSON' : 'it cannot be read';
    throw new UsageError(`${path} holds no leagues: ${why}.`);
  }
  throw new UsageError(`${path} holds no leagues: write a list, or an object with a list in "leagues".`);
}

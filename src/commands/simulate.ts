import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { loadLogConfig } from '../config/config.ts';
import { didYouMean } from '../config/read-environment.ts';
import { codeOf, EXIT, UsageError } from '../errors.ts';
import { isObject, parseJson } from '../league/json.ts';
import { unlessAborted } from '../race-abort.ts';
import { faults as allFaults } from '../simulator/faults.ts';
import { type SimulatorOptions, startSimulator } from '../simulator/simulator.ts';
import type { Command } from './command.ts';

type SimulateOptions = Pick<SimulatorOptions, 'port' | 'username' | 'password'> & {
  readonly tokenLife: number;
  readonly churn: number;
  readonly fault?: readonly string[];
  readonly leagues?: string;
};

export const simulate: Command<SimulateOptions> = async (io, options) => {
  const { leagues: file, tokenLife: tokenLifeMs, churn: churnMs, fault: faults = [], ...rest } = options;
  const log = await io.openLog(loadLogConfig(io.settings()), 1);
  await using simulator = await startSimulator({
    ...rest,
    tokenLifeMs,
    churnMs,
    faults,
    ...(file === undefined ? {} : { leagues: await readLeagues(file, io.stop) }),
    onRequest: ({ method, path, status, token, basic }) =>
      log.debug({ method, path, http_status: status, token, basic }, 'request'),
    onSwitched: (active) => log.info({ faults: active }, `active faults: ${active.join(', ') || 'none'}`),
  }).catch((error) => {
    if (error instanceof RangeError) {
      const known = allFaults.map(({ name }) => name);
      const unknown = faults.find((name) => !known.includes(name)) ?? '';
      throw new UsageError(`${error.message}${didYouMean(unknown, known)}`);
    }
    const code = codeOf(error) || 'unknown error';
    throw new UsageError(`The simulated service cannot listen on port ${rest.port} (${code}); choose another --port.`);
  });
  const { url } = simulator;
  const count = simulator.leagues().length;
  log.info({ url, leagues: count, faults }, `simulated service listens on ${url}; simulate --help has its faults`);
  // The server keeps the process alive until a signal arrives.
  if (!io.stop.aborted) await once(io.stop, 'abort');
  log.info('stopped');
  return EXIT.done;
};

async function readLeagues(path: string, stop: AbortSignal): Promise<readonly unknown[]> {
  try {
    const content = parseJson(await unlessAborted(readFile(path, 'utf8'), stop));
    const leagues = isObject(content) ? content.leagues : content;
    if (Array.isArray(leagues)) return leagues;
  } catch (cause) {
    stop.throwIfAborted();
    if (cause instanceof SyntaxError) throw new UsageError(`${path} contains no leagues: it is not JSON.`);
    throw new UsageError(
      `${path} cannot be read: ${codeOf(cause) === 'ENOENT' ? 'there is no such file' : codeOf(cause) || 'unknown error'}.`,
    );
  }
  throw new UsageError(`${path} contains no leagues: write a list, or an object with a list in "leagues".`);
}

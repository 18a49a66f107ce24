import { loadConfig } from '../config/config.ts';
import { EXIT } from '../errors.ts';
import { createCopy } from '../worker/copier.ts';
import { runWorker } from '../worker/worker.ts';
import type { Command } from './host.ts';

/** The worker, until it is stopped. */
export const run: Command<unknown> = async (host) => {
  const config = loadConfig(host.settings(), host.environment);
  const log = await host.openLog(config.log, 1);
  const { pid, stop: signal, onHangup: onPollNow } = host;
  await runWorker(config, { log, pid, signal, onPollNow, copy: createCopy(host) });
  return EXIT.done;
};

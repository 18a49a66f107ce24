import { loadConfig } from '../config/config.ts';
import { EXIT } from '../errors.ts';
import { createMirrorProcess } from '../mirror/process.ts';
import { createCopyProcess } from '../outputs/copy-process.ts';
import { REAL_SYSTEM } from '../service/connection.ts';
import { runWorker } from '../worker/worker.ts';
import type { Command } from './command.ts';

export const run: Command<unknown> = async (io) => {
  const config = loadConfig(io.settings(), io.environment);
  const log = await io.openLog(config.log, 1);
  const { pid, stop: signal, onHangup: onPollNow } = io;
  await runWorker(config, {
    system: REAL_SYSTEM,
    log,
    pid,
    signal,
    onPollNow,
    copy: createCopyProcess(io),
    mirror: createMirrorProcess(io),
  });
  return EXIT.done;
};

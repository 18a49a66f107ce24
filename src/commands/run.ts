import { loadConfig } from '../config/config.ts';
import { EXIT } from '../errors.ts';
import { createMirrorProcess } from '../mirror/process.ts';
import { serveStatus } from '../observe/serve.ts';
import { createCopyProcess } from '../outputs/publish-copy.ts';
import { REAL_SYSTEM } from '../service/connection.ts';
import { runWorker } from '../worker/worker.ts';
import type { Command, ProcessIO } from './command.ts';

export const run: Command<unknown> = async (io) => {
  const config = loadConfig(io.settings(), io.environment);
  const log = await io.openLog(config.log, 1);
  await runWorker(config, { ...surroundingsOf(io), log, signal: io.stop });
  return EXIT.done;
};

/** What a worker needs of the process that it runs in. */
export function surroundingsOf(io: ProcessIO) {
  const [copy, mirror] = [createCopyProcess(io), createMirrorProcess(io)];
  return {
    system: REAL_SYSTEM,
    pid: io.pid,
    onPollNow: io.onHangup,
    splitCommands: io.splitCommands,
    copy,
    mirror,
    serve: serveStatus,
  };
}

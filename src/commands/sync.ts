import { pollLeagues } from '../sync/poll.ts';
import type { RunDeps } from '../sync/run.ts';
import type { Command } from './command.ts';
import { loadOneShotConfig, pollOnce } from './one-shot.ts';
import { printResult } from './poll-result.ts';

type Options = { readonly dryRun?: boolean; readonly serviceMoved?: boolean };

export const sync: Command<Options> = async (io, { dryRun: isDry, serviceMoved = false }) => {
  const config = await loadOneShotConfig(io);
  if (isDry === true) return (await import('./dry-run.ts')).dryRun(config, io, serviceMoved);
  const poll = async (deps: RunDeps) => ({ report: await pollLeagues(deps, 'manual', io.stop) });
  const { report } = await pollOnce(io, config, { command: 'sync', serviceMoved, poll });
  return printResult(io, report);
};

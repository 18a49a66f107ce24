import { EXIT } from '../errors.ts';
import { pollLeagues } from '../sync/poll.ts';
import { describeReport, type RunReport } from '../sync/report.ts';
import type { RunDeps } from '../sync/run.ts';
import { paragraph } from '../terminal/paragraph.ts';
import type { Command } from './command.ts';
import { loadOneShotConfig, pollOnce } from './one-shot.ts';

export const sync: Command<{ readonly dryRun?: boolean }> = async (io, { dryRun: isDry }) => {
  const config = await loadOneShotConfig(io);
  if (isDry === true) return (await import('./dry-run.ts')).dryRun(config, io);
  const poll = async (deps: RunDeps) => ({ report: await pollLeagues(deps, 'manual', io.stop) });
  const format = ({ report }: { readonly report: RunReport }) => {
    const hint = report.outcome === 'held' ? '; league-sync accept-removals shows them' : '';
    return paragraph(describeReport(report) + hint, io.terminal);
  };
  const { outcome } = await pollOnce(io, config, { command: 'sync', poll, format });
  return outcome === 'held' ? EXIT.held : EXIT.done;
};

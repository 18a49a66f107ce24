import { EXIT } from '../errors.ts';
import { pollLeagues } from '../sync/poll.ts';
import { describeReport, type RunReport } from '../sync/report.ts';
import type { RunDeps } from '../sync/run.ts';
import { paragraph } from '../terminal/paragraph.ts';
import type { Command, ProcessIO } from './command.ts';
import { loadOneShotConfig, pollOnce } from './one-shot.ts';

export const sync: Command<{ readonly dryRun?: boolean }> = async (io, { dryRun: isDry }) => {
  const config = await loadOneShotConfig(io);
  if (isDry === true) return (await import('./dry-run.ts')).dryRun(config, io);
  const poll = async (deps: RunDeps) => ({ report: await pollLeagues(deps, 'manual', io.stop) });
  const format = ({ report }: { readonly report: RunReport }) => describeResult(report, io);
  const { outcome } = await pollOnce(io, config, { command: 'sync', poll, format });
  return outcome === 'held' ? EXIT.held : EXIT.done;
};

async function describeResult(report: RunReport, { terminal }: ProcessIO): Promise<string> {
  const message = describeReport(report);
  const fix = 'league-sync accept-removals shows them';
  if (report.outcome !== 'held') return paragraph(message, terminal);
  if (terminal === undefined) return `${message}; ${fix}`;
  const { formatNotice } = await import('../terminal/text.ts');
  return formatNotice('', { message, fix }, terminal);
}

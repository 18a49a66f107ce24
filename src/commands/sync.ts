import { loadConfig } from '../config/config.ts';
import { EXIT, exitCodeOf } from '../errors.ts';
import { pollLeagues } from '../sync/leagues.ts';
import { openWorkplace } from '../worker/assembly.ts';
import { describeReport, logReport } from '../worker/poller.ts';
import type { Command } from './host.ts';

/** One poll now. */
export const sync: Command<{ readonly dryRun?: boolean }> = async (host, { dryRun }) => {
  if (dryRun === true) return (await import('./dry-run.ts')).dryRun(host, {});
  const config = loadConfig(host.settings());
  const log = await host.openLog(config.log, 2);
  for (const warning of config.warnings) log.warn(warning);
  await using place = await openWorkplace(config, { log, pid: host.pid, firstReason: 'manual', signal: host.stop });
  const report = await pollLeagues(place.tools, 'manual', host.stop);
  logReport(log, report);
  if (report.error !== undefined) return exitCodeOf(report.error);
  host.print(describeReport(report));
  return report.outcome === 'held' ? EXIT.held : EXIT.done;
};

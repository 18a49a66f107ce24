import { loadConfig } from '../config/config.ts';
import { EXIT } from '../errors.ts';
import { pollLeagues } from '../sync/leagues.ts';
import { describeReport, logReport } from '../sync/report.ts';
import { openWorkplace } from '../worker/assembly.ts';
import { createCopy } from '../worker/copier.ts';
import { dryRun } from './dry-run.ts';
import type { Command } from './host.ts';

/** One poll now. */
export const sync: Command<{ readonly dryRun?: boolean }> = async (host, { dryRun: isDry }) => {
  const config = loadConfig(host.settings(), host.environment);
  const log = await host.openLog(config.log, 2);
  for (const warning of config.warnings) log.warn(warning);
  if (isDry === true) return dryRun(config, host);
  const { pid, stop: signal } = host;
  const options = { log, pid, signal, firstReason: 'manual', copy: createCopy(host) } as const;
  await using place = await openWorkplace(config, options);
  const report = await pollLeagues(place.tools, 'manual', host.stop);
  logReport(log, report);
  place.publisher.noteRun(report);
  place.publisher.look();
  if (report.error !== undefined) throw report.error;
  host.stop.throwIfAborted();
  await host.print(describeReport(report));
  return report.outcome === 'held' ? EXIT.held : EXIT.done;
};

import { type Config, loadConfig } from '../config/config.ts';
import { EXIT } from '../errors.ts';
import type { Log } from '../log.ts';
import { pollLeagues } from '../sync/leagues.ts';
import { describeReport, logReport, type RunReport } from '../sync/report.ts';
import { openWorkplace } from '../worker/assembly.ts';
import { createCopy } from '../worker/copier.ts';
import { openHeartbeat } from '../worker/observatory.ts';
import { dryRun } from './dry-run.ts';
import type { Command, Host } from './host.ts';

/** One poll now. */
export const sync: Command<{ readonly dryRun?: boolean }> = async (host, { dryRun: isDry }) => {
  const config = loadConfig(host.settings(), host.environment);
  const log = await host.openLog(config.log, 2);
  for (const warning of config.warnings) log.warn(warning);
  if (isDry === true) return dryRun(config, host);
  const report = await pollOnce(config, host, log);
  if (report.error !== undefined) throw report.error;
  host.stop.throwIfAborted();
  await host.print(describeReport(report));
  return report.outcome === 'held' ? EXIT.held : EXIT.done;
};

/** Holds the database no longer than the poll takes, however slowly its result is read. */
async function pollOnce(config: Config, host: Host, log: Log): Promise<RunReport> {
  const { pid, stop: signal } = host;
  const options = { log, pid, signal, firstReason: 'manual', copy: createCopy(host) } as const;
  await using heartbeat = openHeartbeat(config, log);
  await using place = await openWorkplace(config, options);
  heartbeat?.noteBegin('leagues');
  const report = await pollLeagues(place.tools, 'manual', signal);
  heartbeat?.noteRun(report);
  logReport(log, report);
  place.publisher.noteRun(report);
  place.publisher.look();
  return report;
}

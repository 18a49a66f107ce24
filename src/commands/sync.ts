import { systemClock } from '../clock.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { EXIT } from '../errors.ts';
import type { Log } from '../log.ts';
import { pollLeagues } from '../sync/leagues.ts';
import { describeReport, fieldsOf, type RunReport } from '../sync/report.ts';
import { openWorkplace } from '../worker/assembly.ts';
import { createCopy } from '../worker/copier.ts';
import { createLoginLog } from '../worker/login-log.ts';
import { openHeartbeat } from '../worker/observatory.ts';
import { dryRun } from './dry-run.ts';
import type { Command, Host } from './host.ts';
import { openQuietLog } from './quiet-log.ts';

/** One poll now. */
export const sync: Command<{ readonly dryRun?: boolean }> = async (host, { dryRun: isDry }) => {
  const config = loadConfig(host.settings(), host.environment);
  const log = await openQuietLog(host, config);
  if (isDry === true) return dryRun(config, host);
  const report = await pollOnce(config, host, log);
  if (report.error !== undefined) throw report.error;
  host.stop.throwIfAborted();
  const isHeld = report.outcome === 'held';
  await host.print(describeReport(report) + (isHeld ? '; league-sync accept-removals shows them' : ''));
  return isHeld ? EXIT.held : EXIT.done;
};

/** Holds the database no longer than the poll takes, however slowly its result is read. */
async function pollOnce(config: Config, host: Host, log: Log): Promise<RunReport> {
  const { pid, stop: signal } = host;
  const onLogin = createLoginLog(log, systemClock).note;
  const options = { log, pid, signal, firstReason: 'manual', copy: createCopy(host), onLogin } as const;
  await using heartbeat = openHeartbeat(config, log);
  await using place = await openWorkplace(config, options);
  heartbeat?.noteBegin('leagues');
  const report = await pollLeagues(place.tools, 'manual', signal);
  heartbeat?.noteRun(report);
  log.info(fieldsOf(report), describeReport(report));
  place.publisher.noteRun(report);
  place.publisher.look();
  return report;
}

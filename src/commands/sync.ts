import { type Config, loadConfig } from '../config/config.ts';
import { EXIT } from '../errors.ts';
import type { Log } from '../log.ts';
import { pollLeagues } from '../sync/leagues.ts';
import { describeReport } from '../sync/report.ts';
import { paragraph } from '../terminal/text.ts';
import { openHeartbeat } from '../worker/observatory.ts';
import { dryRun } from './dry-run.ts';
import type { Command, Host } from './host.ts';
import { pollOnce } from './once.ts';
import { openQuietLog } from './quiet-log.ts';

/** One poll now. */
export const sync: Command<{ readonly dryRun?: boolean }> = async (host, { dryRun: isDry }) => {
  const config = loadConfig(host.settings(), host.environment);
  const log = await openQuietLog(host, config);
  if (isDry === true) return dryRun(config, host);
  const { report, warnOfCopy } = await pollWithHeartbeat(config, host, log);
  if (report.error !== undefined) throw report.error;
  host.stop.throwIfAborted();
  const isHeld = report.outcome === 'held';
  const more = isHeld ? '; league-sync accept-removals shows them' : '';
  await host.print(paragraph(describeReport(report) + more, host.terminal));
  warnOfCopy();
  return isHeld ? EXIT.held : EXIT.done;
};

/** A poll with its heartbeat, which ends after the database is closed. */
async function pollWithHeartbeat(config: Config, host: Host, log: Log) {
  await using heartbeat = openHeartbeat(config, log);
  return await pollOnce(config, { host, log, listener: heartbeat?.note }, async (tools) => ({
    report: await pollLeagues(tools, 'manual', host.stop),
  }));
}

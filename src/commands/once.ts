import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log.ts';
import { describeReport, fieldsOf, type RunReport } from '../sync/report.ts';
import type { RunTools } from '../sync/run.ts';
import { createCopy } from '../worker/copier.ts';
import { createLoginLog } from '../worker/login-log.ts';
import { logNews } from '../worker/news-log.ts';
import { openWorkplace } from '../worker/workplace.ts';
import type { Host } from './host.ts';

/** One poll in a workplace of its own, held no longer than the poll takes, however slowly its result is read. */
export async function pollOnce<T extends { readonly report: RunReport }>(
  config: Config,
  { host, log }: { readonly host: Host; readonly log: Log },
  poll: (tools: RunTools) => Promise<T>,
): Promise<T> {
  const { pid, stop: signal } = host;
  const onLogin = createLoginLog(log, systemClock).note;
  const options = { log, pid, signal, firstReason: 'manual', copy: createCopy(host), onLogin } as const;
  await using place = await openWorkplace(config, options);
  const result = await poll(place.tools);
  log.info(fieldsOf(result.report), describeReport(result.report));
  logNews(log, result.report);
  place.publisher.noteRun(result.report);
  place.publisher.look();
  return result;
}

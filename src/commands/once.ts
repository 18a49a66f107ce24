import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log.ts';
import { describeReport, fieldsOf, type RunReport } from '../sync/report.ts';
import type { RunTools } from '../sync/run.ts';
import { createCopy } from '../worker/copier.ts';
import { createLoginLog } from '../worker/login-log.ts';
import { logNews } from '../worker/news-log.ts';
import type { Publisher } from '../worker/publisher.ts';
import { openWorkplace } from '../worker/workplace.ts';
import type { Host } from './host.ts';

type Polled<T> = { readonly result: T; readonly publisher: Publisher };
type Surroundings = { readonly host: Host; readonly log: Log };

/**
 * One poll in a workplace of its own, held no longer than the poll takes, however slowly its result is read. Gives the
 * result, and a way to say, when all else is said, that the published copy could not be made.
 */
export async function pollOnce<T extends { readonly report: RunReport }>(
  config: Config,
  { host, log }: Surroundings,
  poll: (tools: RunTools) => Promise<T>,
): Promise<T & { readonly warnOfCopy: () => void }> {
  const { result, publisher } = await pollIn(config, { host, log }, poll);
  const failure = publisher.failure();
  const message = `the published copy could not be made: ${failure?.message}`;
  return { ...result, warnOfCopy: () => (failure === undefined ? undefined : host.warn({ message })) };
}

async function pollIn<T extends { readonly report: RunReport }>(
  config: Config,
  { host, log }: Surroundings,
  poll: (tools: RunTools) => Promise<T>,
): Promise<Polled<T>> {
  const { pid, stop: signal } = host;
  const onLogin = createLoginLog(log, systemClock).note;
  const options = { log, pid, signal, firstReason: 'manual', copy: createCopy(host), onLogin } as const;
  await using place = await openWorkplace(config, options);
  const result = await poll(place.tools);
  log.info(fieldsOf(result.report), describeReport(result.report));
  logNews(log, result.report);
  place.publisher.noteRun(result.report);
  place.publisher.look();
  return { result, publisher: place.publisher };
}

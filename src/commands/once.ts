import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log.ts';
import { createEvents, type Listener } from '../sync/events.ts';
import { describeReport, fieldsOf, type RunReport } from '../sync/report.ts';
import type { RunTools } from '../sync/run.ts';
import { createCopy } from '../worker/copier.ts';
import { createLoginLog } from '../worker/login-log.ts';
import { logNews } from '../worker/news-log.ts';
import { openWorker } from '../worker/open.ts';
import type { Host } from './host.ts';

type Surroundings = {
  readonly host: Host;
  readonly log: Log;
  /** Is told of everything that happens, after the log. */
  readonly listener?: Listener | undefined;
};

/**
 * One poll, which holds lock and database no longer than it takes, however slowly its result is read. Gives the result,
 * and a way to warn, after it has been printed, that the published copy could not be made.
 */
export async function pollOnce<T extends { readonly report: RunReport }>(
  config: Config,
  { host, log, listener }: Surroundings,
  poll: (tools: RunTools) => Promise<T>,
): Promise<T & { readonly warnOfCopy: () => void }> {
  const { pid, stop: signal } = host;
  const { emit, subscribe } = createEvents(log);
  await using resources = await openWorker(config, {
    log,
    pid,
    signal,
    firstReason: 'manual',
    copy: createCopy(host),
    emit,
  });
  const { tools, publisher } = resources;
  subscribe(createOneShotLog(log, tools.scrub));
  if (listener !== undefined) subscribe(listener);
  if (publisher !== undefined) subscribe(publisher.note);
  const result = await poll(tools);
  publisher?.look();
  const warnOfCopy = (): void => {
    const failure = publisher?.failure();
    if (failure !== undefined) host.warn({ message: `the published copy could not be made: ${failure.message}` });
  };
  return { ...result, warnOfCopy };
}

/** Why a poll or a login failed is the last line on stderr, so it is not logged as well. */
function createOneShotLog(log: Log, scrub: (text: string) => string): Listener {
  const logLogin = createLoginLog(log, systemClock);
  return (event) => {
    if (event.type === 'login' && event.login.outcome === 'ok') logLogin(event.login);
    if (event.type !== 'runEnded') return;
    log.info(fieldsOf(event.report), describeReport(event.report));
    logNews(log, event.report, scrub);
  };
}

import { type Bench, setUpFor } from './bench.ts';
import type { Row } from './database.ts';
import type { Environment, RunningProgram } from './program.ts';
import { listLeagues, startService } from './service.ts';

/** A worker with its status page, and the URL. */
export type Served = { readonly bench: Bench; readonly worker: RunningProgram; readonly url: string };

/** Starts a worker that serves its page on a free port. */
export async function serve(bench: Bench, env: Environment = {}): Promise<Served> {
  const worker = bench.start(['run'], { LEAGUE_SYNC_LISTEN: '127.0.0.1:0', ...env });
  const line = await worker.waitForLog(({ url }) => url !== undefined);
  return { bench, worker, url: String(line.url) };
}

/** The same, with a service that sends these leagues; resolves when they are stored. */
export async function serveLeagues(leagues: readonly Row[], env: Environment = {}): Promise<Served> {
  const service = await startService({ leagues: listLeagues(leagues) });
  const served = await serve(setUpFor(service.url), env);
  await served.worker.waitForPoll();
  return served;
}

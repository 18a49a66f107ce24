import { type Bench, setUpFor } from '../../support/bench.ts';
import type { Environment, RunningProgram } from '../../support/program.ts';
import { type Look, look, probed } from './sample.ts';
import { type SoakService, startSoakService } from './service.ts';

export const SEED = process.env.TEST_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.TEST_SEED);

type SoakOptions = {
  /** The numbers of polls after which samples are taken; the last one ends the soak. */
  readonly lookAt: readonly number[];
  readonly env?: Environment;
  /** Called before each sample, while no poll is in progress. */
  readonly settle?: (worker: RunningProgram, bench: Bench) => Promise<unknown>;
};

const SETTINGS: Environment = {
  // Polls the profile between the requested polls.
  LEAGUE_SYNC_PROFILE_SCHEDULE: '*/2 * * * * *',
  // Short, so that a Retry-After of a second sometimes ends within the run and sometimes after it.
  LEAGUE_SYNC_RUN_TIMEOUT: '1500ms',
  LEAGUE_SYNC_ATTEMPT_TIMEOUT: '400ms',
};

/** Requests the next poll as soon as the last one is logged, from a service that fails often. */
export async function soak({ lookAt, env = {}, settle }: SoakOptions) {
  const service = await startSoakService(SEED);
  const bench = setUpFor(service.url);
  service.nextPoll();
  const worker = bench.start(['run'], { ...SETTINGS, ...env, ...probed(bench) });
  /** The number of polls by outcome. */
  const outcomes: Record<string, number> = {};
  const looks: Look[] = [];
  let polls = 0;
  for (const goal of lookAt) {
    for (; polls < goal; polls += 1) {
      const outcome = await pollOnce(worker, service, polls);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
    service.calm(true);
    await settle?.(worker, bench);
    looks.push(await look(bench, worker, polls, looks[0]));
    service.calm(false);
  }
  const { code } = await worker.stop();
  const summary = { ...outcomes, logins: service.logins(), looks };
  console.info(`Soak with TEST_SEED=${SEED}: ${JSON.stringify(summary)}`);
  return { bench, looks, outcomes, logins: service.logins(), code };
}

/** The first poll is the one at start. A poll that Retry-After postpones follows by itself. */
async function pollOnce(worker: RunningProgram, service: SoakService, before: number): Promise<string> {
  if (before > 0) {
    service.nextPoll();
    worker.send('SIGHUP');
  }
  const { outcome, err } = await worker.waitForPoll();
  return typeof err === 'object' && err !== null && 'kind' in err ? `${outcome} (${err.kind})` : String(outcome);
}

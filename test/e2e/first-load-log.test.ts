import { expect, it } from 'vitest';
import { EVERY_SECOND, setUp, setUpFor } from '../support/bench.ts';
import type { LogLine } from '../support/program.ts';
import { grantLogin, listLeagues, makeLeague, startService } from '../support/service.ts';

const MANY = 10_001;
/** Past the next scheduled time, whenever that is. */
const SLOW_MS = 1_500;
const INFO = 30;

function isSkip({ msg }: LogLine): boolean {
  return String(msg).startsWith('leagues: skipped');
}

it('a first load of many leagues is logged before and after, and runs skipped meanwhile cause no warning', async () => {
  const leagues = Array.from({ length: MANY }, (_, index) => makeLeague(`id-${index}`));
  const service = await startService(({ endpoint }, nth) =>
    endpoint === 'login' ? grantLogin('only-token') : { ...listLeagues(leagues), delayMs: nth === 1 ? SLOW_MS : 0 },
  );
  const worker = setUpFor(service.url).startWorker({ LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
  await worker.waitForPoll('changed');

  const lines = worker.log().filter(({ kind }) => kind === 'leagues');
  const untilDone = lines.slice(0, lines.findIndex(({ outcome }) => outcome === 'changed') + 1);
  const [skipped, said] = [untilDone.filter(isSkip), untilDone.filter((line) => !isSkip(line))];
  expect(skipped.length).toBeGreaterThan(0);
  expect(said).toMatchObject([
    { received: MANY, msg: expect.stringMatching(`^leagues: first load of ${MANY} leagues; `) },
    { added: MANY, duration_ms: expect.any(Number) },
  ]);
  expect(untilDone.map(({ level }) => level)).toEqual(untilDone.map(() => INFO));
});

it('a first load of few leagues says nothing of it', async () => {
  const worker = (await setUp()).startWorker();
  await worker.waitForPoll('changed');
  await worker.stop();
  expect(worker.log().filter(({ msg }) => /first load/.test(String(msg)))).toEqual([]);
});

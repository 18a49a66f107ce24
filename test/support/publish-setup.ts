import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { addSettings, setUp } from './bench.ts';
import { readRows } from './database.ts';
import { makeLeague } from './leagues.ts';
import { eventually, type RunningProgram } from './program.ts';

export type PublishingBench = Awaited<ReturnType<typeof setUpPublishing>>;

/** A bench whose worker publishes into a folder that does not exist yet. */
export async function setUpPublishing() {
  const bench = await setUp({ leagues: [makeLeague('l0')] });
  const shared = join(bench.folder, 'shared');
  let count = 0;
  /** Changes the list of the service. */
  const change = (): void => {
    count += 1;
    bench.simulator.setLeagues(Array.from({ length: count + 1 }, (_, index) => makeLeague(`l${index}`)));
  };
  const publishing = addSettings(bench, { LEAGUE_SYNC_PUBLISH: 'shared/copy.db' });
  return { ...publishing, shared, copy: join(shared, 'copy.db'), change };
}

export function countLeagues(path: string): unknown {
  return readRows(path, 'SELECT count(*) AS n FROM leagues')[0]?.n;
}

export async function published(bench: PublishingBench, leagues: number): Promise<void> {
  const isPublished = () => existsSync(bench.copy) && countLeagues(bench.copy) === leagues;
  await eventually(`${leagues} leagues are published`, isPublished);
}

/** A worker with a database that was filled just now, so that it does not poll at start. */
export async function startFresh(bench: PublishingBench): Promise<RunningProgram> {
  const worker = bench.start(['run']);
  await worker.waitForLog(({ msg }) => String(msg).includes('no poll at start'));
  return worker;
}

export async function pollChange(bench: PublishingBench, worker: RunningProgram): Promise<void> {
  bench.change();
  await worker.pollNow('changed');
}

export function identify(path: string) {
  const { ino, mtimeMs, mode, size } = statSync(path);
  return { ino, mtimeMs, mode, size };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeLeagues, writeLists } from './leagues.ts';
import { residentBytes } from './proc.ts';
import { settingsFor } from './program.ts';
import { startService } from './service.ts';
import { startWorker } from './worker.ts';

/** As many leagues as there are in life. */
export const LIFELIKE = 124;
const IDLE_MS = 3_000;

/** What a worker with the leagues of real life takes when its start is over. */
export async function measureIdleBytes(folder: string): Promise<number> {
  const home = mkdtempSync(join(folder, 'idle-'));
  await using service = await startService();
  try {
    await service.serve(writeLists(home, 'idle', makeLeagues(LIFELIKE)).answer);
    await using worker = startWorker({ folder: home, env: settingsFor(service.url, join(home, 'leagues.db')) });
    await worker.started();
    await sleep(IDLE_MS);
    return residentBytes(worker.pid);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

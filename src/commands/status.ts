import { EXIT, SettingsError } from '../errors.ts';
import { remainingMs } from '../http/retry-after.ts';
import { askFaults, findAddress } from '../observe/probe-client.ts';
import { outputsJson } from '../observe/status-json.ts';
import { assess, type HealthInput } from '../observe/verdict.ts';
import { type Overview, readOverview } from '../store/queries/overview.ts';
import { type LockStatus, readLockStatus } from '../store/worker-lock.ts';
import { escapeAtTerminal, isPipe } from '../terminal/style.ts';
import { formatTimestamp, systemClock } from '../time/clock.ts';
import type { Command, ProcessIO } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';
import { formatStatus, RUNS_READ, type StatusReport } from './status-text.ts';

/** How long a worker may take to answer, whose address may be another's. */
const ASK_MS = 1_000;

type StatusOptions = DatabaseOption & { readonly json?: boolean; readonly failIfStale?: boolean };

export const status: Command<StatusOptions> = async (io, { json, failIfStale, ...option }) => {
  const database = findDatabase(io, option);
  const limit = json || isPipe(io.terminal) ? undefined : RUNS_READ;
  const { report, isStale } = await readStatus(io, database, option.database === undefined, limit);
  const now = systemClock.now();
  await io.print(
    json === true ? escapeAtTerminal(toJson(report), io.terminal) : formatStatus(report, now, io.terminal),
  );
  return failIfStale === true && isStale ? EXIT.failed : EXIT.done;
};

/** What `status --json` prints of the database that the settings name. Rejects with a DatabaseError. */
export async function statusJson(io: ProcessIO, database: string): Promise<string> {
  return toJson((await readStatus(io, database, true)).report);
}

/** `isOwn`: the settings name the database, so that they name the address of its worker, too. */
async function readStatus(io: ProcessIO, database: string, isOwn: boolean, runs?: number) {
  const overview = readOverview(database, runs);
  const worker = readLockStatus(database);
  const now = systemClock.now();
  const staleness = judgeStaleness(overview, worker);
  const { token_granted_at: _, last_retry_after, ...facts } = overview;
  const waitMs = remainingMs(last_retry_after, now);
  const report: StatusReport = {
    ...assess({ ...overview, staleness }),
    database,
    ...facts,
    token_expires_at: mayHoldToken(worker, overview) ? overview.token_expires_at : null,
    worker,
    worker_faults: isOwn && worker.state === 'running' ? await askWorker(io) : [],
    paused_until: waitMs > 0 ? formatTimestamp(now + waitMs) : null,
  };
  return { report, isStale: staleness !== undefined };
}

/** By the file alone. */
export function judgeStaleness(
  { attention, freshness }: Pick<Overview, 'attention' | 'freshness'>,
  worker: Pick<LockStatus, 'state'>,
): HealthInput['staleness'] {
  if (!attention.some(({ what }) => what === 'stale')) return undefined;
  if (freshness.last_success_at !== null) return { ageMs: (freshness.age_seconds ?? 0) * 1_000 };
  return worker.state !== 'none' && freshness.consecutive_failures === 0 ? 'loading' : 'never';
}

async function askWorker(io: ProcessIO): Promise<readonly string[]> {
  try {
    const address = findAddress(io.settings().values.LEAGUE_SYNC_LISTEN);
    return address === undefined ? [] : await askFaults(address, ASK_MS);
  } catch (error) {
    if (error instanceof SettingsError) return [];
    throw error;
  }
}

/** Tokens are kept in memory only, so a worker that started after the login cannot have the token of that login. */
function mayHoldToken(worker: LockStatus, { token_granted_at: grantedAt }: Overview): boolean {
  if (worker.state === 'none' || grantedAt === null) return false;
  return worker.holder === undefined || worker.holder.since <= grantedAt;
}

function toJson({ worker, outputs, ...rest }: StatusReport): string {
  const { pid = null, host = null, since = null } = (worker.state === 'none' ? undefined : worker.holder) ?? {};
  return JSON.stringify({ ...rest, ...outputsJson(outputs), worker: { state: worker.state, pid, host, since } });
}

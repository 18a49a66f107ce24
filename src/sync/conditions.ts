import type { Validators } from '../service/client.ts';
import { formatTimestamp } from '../time/clock.ts';
import type { Run, RunDeps } from './run.ts';

/**
 * Limits how long the list stays stale if the service fails to change its validators along with the list; also how long
 * no conditions are sent to a service that fails because of them.
 */
const DAY_MS = 24 * 3_600_000;
const NONE: Validators = { etag: undefined, lastModified: undefined };

/**
 * The validators of the stored list; undefined if the poll needs a full list. While removals are held, every poll needs
 * a full list: without it, removals that an operator has accepted would not be applied.
 */
export function findValidators({ store, scope, fingerprint, programVersion, clock }: RunDeps): Validators | undefined {
  const last = store.runs.lastApplied();
  if (last === undefined || (last.etag === null && last.last_modified === null)) return undefined;
  if (last.scope !== scope || last.fingerprint !== fingerprint || last.program_version !== programVersion)
    return undefined;
  const seenAt = store.runs.lastListAt();
  const age = seenAt === undefined ? Number.POSITIVE_INFINITY : clock.now() - Date.parse(seenAt);
  if (age < 0 || age > DAY_MS || store.holds.all().size > 0) return undefined;
  return { etag: last.etag ?? undefined, lastModified: last.last_modified ?? undefined };
}

/**
 * The validators to store with a received list, for the next poll to send: none for a day if the service refused those
 * of this poll, or if two polls in a row succeeded only without them.
 */
export function chooseValidators(
  { store: { runs }, clock }: RunDeps,
  { runId, stats: { attempts, conditionsRefused } }: Pick<Run, 'runId' | 'stats'>,
  { sent, received }: { readonly sent: Validators | undefined; readonly received: Validators },
): Validators {
  if (conditionsRefused) return NONE;
  const isSuspect = sent === undefined ? (received.etag ?? received.lastModified) !== undefined : attempts > 1;
  const before = (sent === undefined ? runId : runs.lastApplied()?.id) ?? 0;
  return isSuspect && runs.conditionsFailed(before, formatTimestamp(clock.now() - DAY_MS)) ? NONE : received;
}

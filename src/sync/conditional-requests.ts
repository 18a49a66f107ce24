import type { Validators } from '../service/client.ts';
import { formatTimestamp } from '../time/clock.ts';
import { DAY_MS } from '../time/duration.ts';
import type { Run, RunDeps } from './run.ts';

/** How long a list may stay whose validators never change, and how long no conditions are sent that fail. */
const LONGEST_MS = DAY_MS;
const NONE: Validators = { etag: undefined, lastModified: undefined };

/** The validators of the stored list; undefined for a full list, as while removals are held, to be accepted. */
export function findValidators(deps: RunDeps): Validators | undefined {
  const { store, scope, fingerprint, programVersion, quietFields, clock } = deps;
  const last = store.runs.lastApplied();
  if (last === undefined || (last.etag === null && last.last_modified === null)) return undefined;
  if (last.scope !== scope || last.fingerprint !== fingerprint || last.program_version !== programVersion)
    return undefined;
  // What differed in quiet fields alone is not stored.
  if (last.quiet_fields !== quietFields.join()) return undefined;
  const seenAt = store.runs.lastListAt();
  const age = seenAt === undefined ? Number.POSITIVE_INFINITY : clock.now() - Date.parse(seenAt);
  if (age < 0 || age > LONGEST_MS || store.holds.all().size > 0) return undefined;
  return { etag: last.etag ?? undefined, lastModified: last.last_modified ?? undefined };
}

/** The validators to store: none for a day if the service refused them, or two polls succeeded only without. */
export function chooseValidators(
  { store: { runs }, clock }: RunDeps,
  { runId, stats: { attempts, conditionsRefused } }: Pick<Run, 'runId' | 'stats'>,
  { sent, received }: { readonly sent: Validators | undefined; readonly received: Validators },
): Validators {
  if (conditionsRefused) return NONE;
  const isSuspect = sent === undefined ? (received.etag ?? received.lastModified) !== undefined : attempts > 1;
  const before = (sent === undefined ? runId : runs.lastApplied()?.id) ?? 0;
  return isSuspect && runs.conditionsFailed(before, formatTimestamp(clock.now() - LONGEST_MS)) ? NONE : received;
}

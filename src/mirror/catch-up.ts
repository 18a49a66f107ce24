import { hostname } from 'node:os';
import type { MirrorTarget } from '../config/mirror.ts';
import { createRetryWhileBusy } from '../store/busy.ts';
import { openMirrorSnapshot } from '../store/queries/mirror.ts';
import { systemClock } from '../time/clock.ts';
import { type Progress, type Transfer, transferBatch } from './batch.ts';
import { connect } from './connect.ts';
import type { RunsToCompare } from './reconcile.ts';
import { type MirrorOrigin, prepareMirror } from './schema.ts';
import { FITS_INDEX } from './tables.ts';

type OnProgress = (progress: Progress) => void;

/** `leftOut`: the beginnings of the first ids of leagues that PostgreSQL cannot take. */
export type Filled = Progress & { readonly leftOut: readonly string[] };

/** Brings the mirror to the end of the database at `path`. Rejects with a RunError. */
export async function catchUp(
  path: string,
  target: MirrorTarget,
  { onProgress, runs = 'all' }: { readonly onProgress: OnProgress; readonly runs?: RunsToCompare },
): Promise<Filled> {
  using session = await connect(target);
  const openSnapshot = createOpener(path);
  await prepareMirror(session, await readOrigin(openSnapshot));
  const transfer = () => session.transaction((tx) => transferBatch(tx, { openSnapshot, runs }));
  return withLeftOut(await repeatToEnd(transfer, onProgress), openSnapshot);
}

export async function repeatToEnd(transfer: () => Promise<Progress>, onProgress: OnProgress): Promise<Progress> {
  for (;;) {
    const progress = await transfer();
    onProgress(progress);
    if (progress.seq === progress.lastSeq) return progress;
  }
}

/** Shorter than a transaction may be idle, since the wait happens within one. */
const BUSY_WAIT_MS = 10_000;

/** A worker that starts or stops locks the database for a moment. */
export function createOpener(path: string): Transfer['openSnapshot'] {
  const retryWhileBusy = createRetryWhileBusy(systemClock, new AbortController().signal);
  return () => retryWhileBusy(() => openMirrorSnapshot(path), AbortSignal.timeout(BUSY_WAIT_MS));
}

export async function withLeftOut(progress: Progress, openSnapshot: Transfer['openSnapshot']): Promise<Filled> {
  using snapshot = await openSnapshot();
  return { ...progress, leftOut: snapshot.leaguesWithout(FITS_INDEX) };
}

export async function readOrigin(openSnapshot: Transfer['openSnapshot']): Promise<MirrorOrigin> {
  using snapshot = await openSnapshot();
  return { id: snapshot.databaseId(), path: `${hostname()}:${snapshot.path}` };
}

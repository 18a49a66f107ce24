import { hostname } from 'node:os';
import type { MirrorSource } from '../config/mirror.ts';
import { createRetryWhileBusy } from '../store/busy.ts';
import { openMirrorSnapshot } from '../store/queries/mirror.ts';
import { systemClock } from '../time/clock.ts';
import { connect } from './connect.ts';
import { type Origin, prepareMirror } from './prepare.ts';
import { type Progress, type Transfer, transferBatch } from './transfer.ts';

export type FillOptions = {
  readonly stop: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
};

/** Brings the mirror to the end of the database at `path`. Rejects with a RunError, or with the reason of `stop`. */
export async function fillMirror(path: string, source: MirrorSource, options: FillOptions): Promise<Progress> {
  using session = await connect(source(), options.stop);
  const openSnapshot = createOpener(path, options.stop);
  await prepareMirror(session, await readOrigin(openSnapshot));
  const transfer = () => session.transaction((tx) => transferBatch(tx, { openSnapshot, runs: 'all' }));
  return await repeatToEnd(transfer, options.onProgress);
}

export async function repeatToEnd(
  transfer: () => Promise<Progress>,
  onProgress: FillOptions['onProgress'],
): Promise<Progress> {
  for (;;) {
    const progress = await transfer();
    onProgress(progress);
    if (progress.seq === progress.lastSeq) return progress;
  }
}

/** Shorter than a transaction may be idle, since the wait happens within one. */
const BUSY_WAIT_MS = 10_000;

/** A worker that starts or stops locks the database for a moment. */
export function createOpener(path: string, stop: AbortSignal): Transfer['openSnapshot'] {
  const retryWhileBusy = createRetryWhileBusy(systemClock, stop);
  return () =>
    retryWhileBusy(() => openMirrorSnapshot(path), AbortSignal.any([stop, AbortSignal.timeout(BUSY_WAIT_MS)]));
}

export async function readOrigin(openSnapshot: Transfer['openSnapshot']): Promise<Origin> {
  using snapshot = await openSnapshot();
  return { databaseId: snapshot.databaseId(), place: `${hostname()}:${snapshot.path}` };
}

import { hostname } from 'node:os';
import type { MirrorTarget } from '../config/mirror.ts';
import { RefusedError } from '../errors.ts';
import { findPackage } from '../package.ts';
import { createRetryWhileBusy } from '../store/busy.ts';
import { type MirrorSnapshot, openMirrorSnapshot } from '../store/queries/mirror.ts';
import { systemClock } from '../time/clock.ts';
import { connect, type Transaction } from './connect.ts';
import { PAGE, type RunsToCompare, readPages, reconcileTables } from './reconcile.ts';
import { rowsJson } from './row-json.ts';
import { type MirrorOrigin, prepareMirror } from './schema.ts';
import { assertEarlier, REBUILD, readState, STATE } from './state.ts';
import { followStatement } from './statements.ts';
import { FITS_INDEX, LEAGUE_CHANGES, LEAGUES, sourceOf } from './tables.ts';

/** Changes in one transaction; up to the end of the run that has the last of them, however many it has. */
const BATCH_CHANGES = 5_000;

export type Transfer = {
  /** Opens a state of the database. A transaction calls it with the state row locked: never older than the mirror. */
  readonly openSnapshot: () => Promise<MirrorSnapshot>;
  readonly runs: RunsToCompare;
  /** The least number of changes in a transaction, which ends with a run; smaller in tests. */
  readonly batchChanges?: number;
  /** Also called within a transaction, which may bring the mirror forward by very many changes. */
  readonly onProgress?: OnProgress;
};

export type Progress = {
  /** The last change that the mirror has after a transaction. */
  readonly seq: number;
  /** The last change that the database had. */
  readonly lastSeq: number;
  /** The last change that a transaction has sent which is not over. */
  readonly sent?: number;
  /** At the end: a sentence about leagues that the mirror lacks, if there are any. */
  readonly note?: string | undefined;
};

export type OnProgress = (progress: Progress) => void;

/** Brings the mirror to the end of the database at `path`. Rejects with a RunError. */
export async function catchUp(
  path: string,
  target: MirrorTarget,
  { onProgress, runs = 'all' }: { readonly onProgress: OnProgress; readonly runs?: RunsToCompare },
): Promise<Progress> {
  using session = await connect(target);
  const openSnapshot = createOpener(path);
  await prepareMirror(session, await readOrigin(openSnapshot));
  return await repeatToEnd(
    () => session.transaction((tx) => transferBatch(tx, { openSnapshot, runs, onProgress })),
    onProgress,
  );
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

export async function readOrigin(openSnapshot: Transfer['openSnapshot']): Promise<MirrorOrigin> {
  using snapshot = await openSnapshot();
  return { id: snapshot.databaseId(), path: `${hostname()}:${snapshot.path}` };
}

const SET_STATE = `UPDATE "mirror_state" SET seq = $1, at = $2, program_version = $3, mirrored_at = clock_timestamp()`;

/** Brings the mirror to a later state of the database: in this transaction, and up to the end of a run. */
export async function transferBatch(
  tx: Transaction,
  { openSnapshot, runs, batchChanges = BATCH_CHANGES, onProgress = () => undefined }: Transfer,
): Promise<Progress> {
  // With the row locked, only one process writes, and only what follows on the row.
  const state = readState((await tx.query(`${STATE} FOR UPDATE`))[0]);
  using snapshot = await openSnapshot();
  assertEarlier(state, snapshot);
  const lastSeq = snapshot.lastSeq();
  const seq = snapshot.endOfRun(state.seq, batchChanges);
  for await (const sent of follow(tx, snapshot, state.seq, seq)) onProgress({ seq: state.seq, lastSeq, sent });
  if (seq === lastSeq) {
    if (runs === 'all') await assertComplete(tx, snapshot);
    await reconcileTables(tx, snapshot, runs);
  }
  await tx.query(SET_STATE, seq, snapshot.changedAt(seq) ?? null, findPackage().version);
  return { seq, lastSeq, note: seq === lastSeq ? describeLeftOut(snapshot) : undefined };
}

/** Brings the feed and `leagues` from the change `seq` to the change `last`. Yields how far it is. */
async function* follow(tx: Transaction, snapshot: MirrorSnapshot, seq: number, last: number) {
  const feed = sourceOf(LEAGUE_CHANGES);
  const source = { ...feed, where: `seq <= ${last} AND ${feed.where}` };
  for (const { rows, next } of readPages(snapshot, source, seq + 1, PAGE)) {
    if (rows.length > 0) await tx.query(followStatement(), rowsJson(rows, LEAGUE_CHANGES.columns, 'part'));
    yield next === undefined ? last : next - 1;
  }
}

/** The feed is only appended to, so nothing else would notice that rows of it were added or deleted in the mirror. */
async function assertComplete({ query }: Transaction, snapshot: MirrorSnapshot): Promise<void> {
  for (const source of [LEAGUE_CHANGES, LEAGUES].map(sourceOf)) {
    const [row] = await query(`SELECT count(*) FROM "${source.name}"`);
    const [found, expected] = [Number(row?.count), snapshot.count(source)];
    if (found === expected) continue;
    const what = `The mirror has ${found} rows in ${source.name}, and ${snapshot.path} has ${expected}.`;
    throw new RefusedError(what, REBUILD);
  }
}

function describeLeftOut(snapshot: MirrorSnapshot): string | undefined {
  const leftOut = snapshot.leaguesWithout(FITS_INDEX);
  if (leftOut.length === 0) return undefined;
  return `leagues whose league_id is too long for an index of PostgreSQL are left out: ${leftOut.join('…, ')}…`;
}

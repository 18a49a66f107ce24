import type Database from 'better-sqlite3';
import { formatTimestamp } from '../../time/clock.ts';
import { withReader } from '../connection.ts';
import type { runs } from '../schema.ts';
import { type BesideWorker, writeBesideWorker } from '../second-writer.ts';

/** Older requests are dropped: `league-sync poll` withdraws its request then, unless it was killed. */
const MAX_AGE_MS = 30_000;

/** The polls that `league-sync poll` asks the worker for. */
export function createPollRequests(client: Database.Database) {
  const find = client.prepare<[], number>('SELECT id FROM poll_requests LIMIT 1').pluck();
  const takeAll = client.prepare<[], string>('DELETE FROM poll_requests RETURNING asked_at').pluck();
  return {
    arePending: (): boolean => find.get() !== undefined,
    /** Deletes all requests. Returns whether one of them is young enough to be fulfilled. */
    take: (now: number): boolean => takeAll.all().some((askedAt) => now - Date.parse(askedAt) < MAX_AGE_MS),
  };
}

/** `lastRunId` is the newest run before the request, so each later run fulfils the request. */
export type PollRequest = { readonly id: number; readonly lastRunId: number };

/** Asks the worker for a poll. Rejects with a DatabaseError, as does `withdrawPoll`. */
export function requestPoll(path: string, beside: BesideWorker): Promise<PollRequest> {
  return writeBesideWorker(path, beside, (client) => {
    const lastRunId = client.prepare<[], number>('SELECT coalesce(max(id), 0) FROM runs').pluck().get() ?? 0;
    const askedAt = formatTimestamp(beside.clock.now());
    const { lastInsertRowid } = client.prepare('INSERT INTO poll_requests (asked_at) VALUES (?)').run(askedAt);
    return { id: Number(lastInsertRowid), lastRunId };
  });
}

/** Resolves to whether the worker had not taken the request yet, and never will. */
export function withdrawPoll(path: string, { id }: PollRequest, beside: BesideWorker): Promise<boolean> {
  const sql = 'DELETE FROM poll_requests WHERE id = ?';
  return writeBesideWorker(path, beside, (client) => client.prepare(sql).run(id).changes > 0);
}

/** Polls run one after the other, so the newest one is the one that runs. */
const SELECT_PROGRESS = `SELECT EXISTS (SELECT 1 FROM poll_requests WHERE id = @id) AS isPending,
  (SELECT outcome = 'running' FROM runs ORDER BY id DESC LIMIT 1) AS isRunning`;
const SELECT_RUN = `SELECT * FROM runs WHERE id > @lastRunId AND kind = 'leagues' AND outcome <> 'running'
  ORDER BY id LIMIT 1`;

/** `run` is the poll that fulfils the request; undefined until it has ended. */
export function readPollProgress(path: string, request: PollRequest) {
  return withReader(path, (client) => {
    const run = client.prepare<[PollRequest], typeof runs.$inferSelect>(SELECT_RUN).get(request);
    const found = client.prepare<[PollRequest], { isPending: number; isRunning: number }>(SELECT_PROGRESS).get(request);
    return { run, isPending: found?.isPending === 1, isRunning: found?.isRunning === 1 };
  });
}

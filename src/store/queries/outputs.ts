import type Database from 'better-sqlite3';
import type { OutputName, OutputRow } from '../tables/outputs.ts';

/** An output as `status`, the page, `/status.json` and the metrics show it. */
export type OutputStatus = Omit<OutputRow, 'refused' | 'fed_by'> & {
  /** How many changes it lacks; null for the copy. */
  readonly pending_changes: number | null;
  /** When the receiver of the webhook answered 410 (Gone). */
  readonly stopped_at: string | null;
};

const SELECT = `SELECT name, label, outputs.seq, done_at, failed_attempts, failing_since, last_error, next_attempt_at,
    iif(name = 'copy', NULL, max(0, coalesce((SELECT max(seq) FROM league_changes), 0) - coalesce(outputs.seq, 0)))
      AS pending_changes,
    iif(name = 'webhook', (SELECT stopped_at FROM webhook), NULL) AS stopped_at
  FROM outputs ORDER BY name DESC`;

export function prepareOutputs(client: Database.Database): () => readonly OutputStatus[] {
  const select = client.prepare<[], OutputStatus>(SELECT);
  return () => select.all();
}

/** The outputs as members of a JSON object; null for one that is not set. */
export function outputsJson(outputs: readonly OutputStatus[]) {
  const find = (name: OutputName) => outputs.find((output) => output.name === name);
  const [webhook, mirror, copy] = [find('webhook'), find('mirror'), find('copy')];
  return {
    outputs,
    webhook: webhook
      ? { ...webhook, host: webhook.label, accepted_seq: webhook.seq, accepted_at: webhook.done_at }
      : null,
    mirror: mirror ? { ...mirror, mirrored_at: mirror.done_at, lag_changes: mirror.pending_changes } : null,
    published: copy ? { ...copy, path: copy.label, at: copy.done_at } : null,
  };
}

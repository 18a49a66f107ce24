import type Database from 'better-sqlite3';

/** A row of the view `attention`. */
export type Attention = {
  readonly since: string | null;
  readonly what:
    | 'stale'
    | 'failing'
    | 'credentials-refused'
    | 'held-removals'
    | 'rejected-leagues'
    | 'drift'
    | 'interrupted'
    | 'webhook'
    | 'mirror'
    | 'copy';
  readonly count: number | null;
  readonly summary: string;
  readonly what_to_do: string;
};

export function prepareAttention(client: Database.Database): () => readonly Attention[] {
  const select = client.prepare<[], Attention>('SELECT * FROM attention');
  return () => select.all();
}

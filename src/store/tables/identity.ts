import type Database from 'better-sqlite3';

/** The row of `database_identity`. */
export function createIdentity(client: Database.Database) {
  const select = client.prepare<[], { readonly id: string; readonly base_url: string | null }>(
    'SELECT id, base_url FROM database_identity',
  );
  const claim = client.prepare<[string, number]>(
    'UPDATE database_identity SET base_url = ? WHERE base_url IS NULL OR ?',
  );
  return {
    id: (): string => select.get()?.id ?? '',
    /** Of the service that the database belongs to; null before its first good poll. */
    baseUrl: (): string | null => select.get()?.base_url ?? null,
    /** Gives the database to a service. One that belongs to another service changes hands only with `hasMoved`. */
    claim: (baseUrl: string, hasMoved: boolean): void => {
      claim.run(baseUrl, Number(hasMoved));
    },
  };
}

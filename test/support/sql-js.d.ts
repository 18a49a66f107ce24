/** An old build of SQLite, to try the views in. */
declare module 'sql.js' {
  type Result = { readonly columns: readonly string[]; readonly values: readonly (readonly unknown[])[] };
  type Connection = { readonly exec: (sql: string) => readonly Result[]; readonly close: () => void };
  export default function initSqlJs(options: {
    readonly wasmBinary: Uint8Array;
  }): Promise<{ readonly Database: new (file: Uint8Array) => Connection }>;
}

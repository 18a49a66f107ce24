import type Database from 'better-sqlite3';

/**
 * Sets the given columns of the rows that `where` selects; others keep their value. Keeps each statement, as preparing
 * one takes longer than running it. The columns' names must not come from outside.
 */
export function createUpdate<Values extends object>(client: Database.Database, table: string, where: string) {
  const statements = new Map<string, Database.Statement>();
  return (values: Values, bound: object = {}): void => {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    if (given.length === 0) return;
    const columns = given.map(([name]) => `${name} = @${name}`).join(', ');
    const statement = statements.get(columns) ?? client.prepare(`UPDATE ${table} SET ${columns} WHERE ${where}`);
    statements.set(columns, statement);
    const stored = given.map(([name, value]) => [name, typeof value === 'boolean' ? Number(value) : value]);
    statement.run({ ...Object.fromEntries(stored), ...bound });
  };
}

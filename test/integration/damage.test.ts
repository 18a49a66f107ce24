import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DatabaseError, UsageError } from '../../src/errors.ts';
import { readOverview } from '../../src/store/queries/overview.ts';
import { runQuery } from '../../src/store/queries/user-query.ts';
import { withDatabase } from '../support/database.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import { makeLeagues } from '../support/leagues.ts';
import { listLeagues, startService } from '../support/service.ts';
import { thrownBy } from '../support/unit-error.ts';
import { openBench } from '../support/worker-resources.ts';

/** A database with leagues in it, at rest. */
async function fill(folder: Folder): Promise<string> {
  await using service = await startService({ leagues: listLeagues(makeLeagues(200)) });
  await using bench = await openBench({ folder, url: service.url });
  await bench.poll();
  return bench.path;
}

const READS: readonly (readonly [string, (path: string) => unknown])[] = [
  ['the overview', readOverview],
  ['a query', (path) => runQuery(path, 'SELECT * FROM runs JOIN leagues ORDER BY city')],
];

describe.each(READS)('%s', (_, read) => {
  it.each<[string, (bytes: Buffer) => Buffer]>([
    [
      'with garbage after its first page',
      (bytes) => Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.length - 4_096, 0xa5)]),
    ],
    ['that was cut after its first page', (bytes) => bytes.subarray(0, 4_096)],
  ])('of a database %s is a DatabaseError that names the file', async (_damage, harm) => {
    using folder = makeFolder();
    const path = await fill(folder);
    writeFileSync(path, harm(readFileSync(path)));
    const error = thrownBy(() => read(path));
    expect(error).toBeInstanceOf(DatabaseError);
    expect(String(error)).toContain(path);
    expect(String(error)).toMatch(/is damaged/);
  });

  it('of a database with damage only in its leagues is a DatabaseError, too', async () => {
    using folder = makeFolder();
    const path = await fill(folder);
    const roots = withDatabase(path, (db) =>
      db
        .prepare<[], { page: number }>(
          "SELECT rootpage AS page FROM sqlite_schema WHERE tbl_name = 'leagues' AND rootpage > 0",
        )
        .all(),
    );
    const bytes = readFileSync(path);
    for (const { page } of roots) bytes.fill(0xa5, (page - 1) * 4_096, page * 4_096);
    writeFileSync(path, bytes);
    expect(thrownBy(() => read(path))).toBeInstanceOf(DatabaseError);
  });
});

describe('a sound database', () => {
  it('reports an SQL error as a usage error', async () => {
    using folder = makeFolder();
    const path = await fill(folder);
    expect(thrownBy(() => runQuery(path, 'SELECT nothing FROM nowhere'))).toBeInstanceOf(UsageError);
    expect(readOverview(path).freshness).toMatchObject({ live_leagues: 200, last_outcome: 'changed' });
  });
});

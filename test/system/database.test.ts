import { describe, expect, it } from 'vitest';
import { setUp, setUpSynced } from '../support/bench.ts';
import { askSqlite3, type Row } from '../support/database.ts';

const TEXTS = [
  'league_id',
  'league_name',
  'sport',
  'league_image',
  'status',
  'sport_db_id',
  'active_season_type',
].concat(
  ['active_year', 'external_id', 'external_odds_id', 'active_poll', 'state', 'city', 'create_datetime'],
  'last_update_datetime',
);
const FLAGS = ['default_tournaments', 'rankings'];
const FIELDS = [...TEXTS, ...FLAGS, 'priority', 'default_markets'];

/** The expected row for an element of the response: each value and its SQLite type. */
function expectedRow(sent: Row): Row {
  const values = FIELDS.map((field) => [field, columnOf(field, sent[field])]);
  const types = FIELDS.map((field) => [`${field}_type`, typeOf(field, sent[field])]);
  return { ...Object.fromEntries([...values, ...types]), extra: '{}', extra_type: 'text', removed_at: null };
}

function columnOf(field: string, sent: unknown): unknown {
  if (sent === undefined || sent === null) return null;
  if (field === 'default_markets') return sent;
  return FLAGS.includes(field) ? Number(sent) : sent;
}

function typeOf(field: string, sent: unknown): string {
  if (sent === undefined || sent === null) return 'null';
  return FLAGS.includes(field) || field === 'priority' ? 'integer' : 'text';
}

function readRow(row: Row): Row {
  const markets = row.default_markets;
  return { ...row, default_markets: typeof markets === 'string' ? JSON.parse(markets) : markets };
}

const COLUMNS = [...FIELDS, 'extra'].flatMap((field) => [field, `typeof(${field}) AS ${field}_type`]).join(', ');

describe('the database', () => {
  it('holds every league as the service sent it, in all 19 fields, for sqlite3 to read while the worker runs', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');

    const rows = askSqlite3(bench.database, `SELECT ${COLUMNS}, removed_at FROM leagues`);

    const sent = bench.simulator.leagues() as readonly Row[];
    expect(FIELDS).toHaveLength(19);
    expect(rows).toHaveLength(124);
    expect(byId(rows.map(readRow))).toEqual(byId(sent.map(expectedRow)));
    expect(worker.alive()).toBe(true);
    expect((await worker.stop()).code).toBe(0);
  });

  it('can be sorted at length where no folder takes temporary files, as in a read-only container', async ({ skip }) => {
    if (process.getuid?.() !== 0) return skip('only root can mount a disk');
    const bench = await setUpSynced();
    const close = 'for d in /tmp /var/tmp; do mount --bind $d $d && mount -o remount,bind,ro $d || exit 99; done';
    const through = ['unshare', '-m', 'sh', '-c', `${close}; cd "$PWD"; exec "$@"`, 'sh'];
    const sql = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      SELECT count(*) AS n FROM (SELECT randomblob(1000) AS b FROM n ORDER BY b LIMIT 90000)`;
    const answer = await bench.runProcess(['query', '--format', 'csv', sql], {}, { through });
    expect(answer).toMatchObject({ code: 0, stdout: 'n\n90000\n' });
  });
});

function byId(rows: readonly Row[]): Readonly<Record<string, Row>> {
  return Object.fromEntries(rows.map((row) => [String(row.league_id), row]));
}

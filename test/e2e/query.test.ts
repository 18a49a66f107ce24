import { describe, expect, it } from 'vitest';
import { type Bench, setUpSynced } from '../support/bench.ts';
import { fingerprint } from '../support/folder.ts';
import { runProgram } from '../support/program.ts';
import { needTerminal, showAtTerminal, startAtTerminal } from '../support/terminal.ts';

/** Statements that must be refused. */
const REFUSED = [
  "ATTACH 'other.db' AS other",
  'BEGIN',
  "VACUUM INTO 'copy.db'",
  'CREATE TEMP TABLE t (a)',
  'PRAGMA table_info = leagues',
  'PRAGMA journal_mode/**/=/**/DELETE',
  'PRAGMA wal_checkpoint(TRUNCATE)',
  'pragma application_id = 1',
  '/* a comment */ PRAGMA journal_mode=DELETE',
  '/**/;PRAGMA user_version=7',
  "INSERT INTO leagues (league_id) VALUES ('x')",
  'WITH new AS (SELECT 1) UPDATE leagues SET priority = 0 RETURNING league_id',
  'SELECT 1; SELECT 2',
  '',
  '-- nothing but a comment',
  'SELECT ?',
  "SELECT load_extension('nothing')",
  "SELECT json('{')",
];

/** Statements that must run. */
const READING = [
  'SELECT 1',
  'WITH a AS (SELECT 1 AS b) SELECT b FROM a',
  '-- a comment\nSELECT 1 -- another',
  '/* PRAGMA user_version=7 */ SELECT 1',
  "SELECT 'PRAGMA user_version=7; DELETE FROM runs'",
  'EXPLAIN QUERY PLAN SELECT * FROM leagues',
  'PRAGMA user_version',
];

/** Values that are hard to format. */
const VALUES = `SELECT 9223372036854775807 AS big, -9007199254740993 AS negative, 1.5 AS "real", NULL AS missing,
  '' AS empty, 'say "hi", all' AS quoted, 'it''s' AS apostrophe, x'00ff' AS bytes, 'a' || char(10) || 'b' AS lines`;

/** Several MB, far more than a pipe holds. */
const LONG_ROWS = 2_000;
const PAD = '00'.repeat(1_000);
const LONG = `WITH RECURSIVE n (i) AS (SELECT 10001 UNION ALL SELECT i + 1 FROM n LIMIT ${LONG_ROWS})
  SELECT i, '${PAD}' AS pad FROM n`;

/** The exit code of every statement. */
async function exitCodes(bench: Bench, statements: readonly string[]): Promise<ReadonlyMap<string, number | null>> {
  const codes = new Map<string, number | null>();
  for (const sql of statements) codes.set(sql, (await bench.run(['query', '--', sql])).code);
  return codes;
}

describe('query', { timeout: 60_000 }, () => {
  it.each([
    'SELECT * FROM no_such_table',
    'SELECT no_such_column FROM leagues',
    'SELECT "no_such_column" FROM leagues',
  ])('of a name that does not exist (%s) says where the names are', async (sql) => {
    const bench = await setUpSynced();
    const { stderr } = await bench.run(['query', sql]);
    const [, about, dictionary] = /; (.*) names the tables, (.*) their columns$/.exec(stderr.trimEnd()) ?? [];
    expect((await bench.run(['query', about ?? ''])).stdout).toContain('league_field_changes');
    expect((await bench.run(['query', dictionary ?? ''])).stdout).toContain('active_season_type');
  });

  it('asks whether a column of a table in the statement was meant, and never one of another table', async () => {
    const bench = await setUpSynced();
    const hint = async (sql: string) => (await bench.run(['query', sql])).stderr;
    expect(await hint('SELECT leage_name FROM leagues')).toContain('did you mean league_name?');
    // The table outputs has a column `name`.
    expect(await hint('SELECT nam FROM leagues')).toContain('did you mean league_name?');
    expect(await hint('SELECT nam FROM outputs')).toContain('did you mean name?');
  });

  it('prints JSON that keeps every digit and every type', async () => {
    const bench = await setUpSynced();
    const { code, stdout } = await bench.run(['query', '--format', 'json', `${VALUES}, 9e999 AS high, -9e999 AS low`]);
    expect(code).toBe(0);
    expect(stdout).toContain('"high":1e999,"low":-1e999');
    expect(stdout).toContain('"big":9223372036854775807');
    expect(stdout).toContain('"negative":-9007199254740993');
    expect(JSON.parse(stdout)).toMatchObject([
      { real: 1.5, missing: null, empty: '', quoted: 'say "hi", all', apostrophe: "it's", lines: 'a\nb' },
    ]);
  });

  it('prints CSV with a header, quotes only if needed, and NULL as nothing', async () => {
    const bench = await setUpSynced();
    const { code, stdout } = await bench.run(['query', '--format', 'csv', `${VALUES}, NULL AS last`]);
    expect(code).toBe(0);
    expect(stdout).toBe(
      'big,negative,real,missing,empty,quoted,apostrophe,bytes,lines,last\n' +
        '9223372036854775807,-9007199254740993,1.5,,"","say ""hi"", all",it\'s,00ff,"a\nb",\n',
    );
  });

  it('loses nothing of a long answer to a slow reader, and exits 0 when its reader goes', async () => {
    const bench = await setUpSynced();
    const ask = (into: string) => bench.runProcess(['query', '--format', 'ndjson', LONG], {}, { into });
    expect(await ask('sleep 1; wc -l')).toMatchObject({ code: 0, stdout: `${LONG_ROWS}\n`, stderr: '' });
    expect(await ask('head -n 1 | wc -l')).toMatchObject({ code: 0, stdout: '1\n', stderr: '' });
  });

  it('prints a table by default, with control characters escaped', async () => {
    const bench = await setUpSynced();
    const { code, stdout } = await bench.run(['query', `${VALUES}, char(27) || '[31mred' AS colour`]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^big +negative +real/);
    expect(stdout).toContain('9223372036854775807');
    expect(stdout).toContain('say "hi", all');
    expect(stdout).not.toContain('\u001b');
  });

  it('prints an answer without rows in every format', async () => {
    const bench = await setUpSynced();
    const sql = 'SELECT league_id, priority FROM leagues WHERE false';
    expect(JSON.parse((await bench.run(['query', '--format', 'json', sql])).stdout)).toEqual([]);
    expect((await bench.run(['query', '--format', 'csv', sql])).stdout).toBe('league_id,priority\n');
    expect((await bench.run(['query', sql])).stdout).toMatch(/league_id +priority/);
  });

  it('runs every kind of read-only statement', async () => {
    const bench = await setUpSynced();
    const codes = await exitCodes(bench, READING);
    expect([...codes].filter(([, code]) => code !== 0)).toEqual([]);
  });

  it.each([
    ['table', 'SELECT 1 AS a, zeroblob(300000000) AS b', 'What the column b holds is too large to print'],
    ['table', "SELECT 'b' AS b, 1 AS a, zeroblob(300000000) AS a", 'What the column a holds is too large to print'],
    ['ndjson', 'SELECT 1 AS a, zeroblob(300000000) AS b', 'What the column b holds is too large to print'],
    ['csv', "SELECT printf('%.*c', 600000000, 'x')", 'SQL error: string or blob too big'],
  ])('says in the format %s which value is too large, and what to do', async (format, sql, what) => {
    const { code, stderr } = await (await setUpSynced()).run(['query', '--format', format, sql]);
    const fix = 'take a part of it, as substr(column, 1, 1000) does, or its length(column)';
    expect([code, stderr]).toEqual([64, `league-sync: ${what}; ${fix}\n`]);
  });

  it('refuses everything else with 64, and changes no file', async () => {
    const bench = await setUpSynced();
    const before = fingerprint(bench.folder);
    const codes = await exitCodes(bench, REFUSED);
    expect([...codes].filter(([, code]) => code !== 64)).toEqual([]);
    expect(fingerprint(bench.folder)).toEqual(before);
  });

  it('reads the statement from stdin for "-", and refuses one that is missing or writes', async () => {
    const bench = await setUpSynced();
    const ask = (input: string) => runProgram(['query', '-'], { cwd: bench.folder, env: bench.env, input });
    const stored = await ask("SELECT\n  count(*) AS leagues -- 'quoted'\nFROM leagues;\n");
    expect(stored).toMatchObject({ code: 0, stdout: 'leagues\n124\n', stderr: '' });
    for (const input of ['', ' \n', 'DELETE FROM runs']) expect((await ask(input)).code).toBe(64);
  });
});

describe('query at a terminal', () => {
  needTerminal();

  it('prints a table if that fits, otherwise each row as a paragraph in which nothing is cut', async () => {
    const bench = await setUpSynced();
    const show = async (sql: string): Promise<readonly string[]> => {
      const env = { ...bench.env, NO_COLOR: '1' };
      const { code, lines } = await showAtTerminal(`query "${sql}"`, { cwd: bench.folder, env, columns: 80 });
      expect(code).toBe(0);
      return lines;
    };
    expect((await show('SELECT league_id, kind FROM league_changes LIMIT 2'))[0]).toBe(
      `${'league_id'.padEnd(36)}  kind`,
    );
    const lines = await show('SELECT * FROM leagues LIMIT 2');
    expect(lines[0]).toMatch(/^league_id {13}[\da-f-]{36}$/);
    expect(lines.filter((line) => line.startsWith('league_id '))).toHaveLength(2);
    expect(lines.filter((line) => line === '')).toHaveLength(1);
    expect(await show('SELECT * FROM leagues LIMIT 0')).toHaveLength(1);
  });

  it('prints rows as they come, however many, and says what a table leaves out', async () => {
    const bench = await setUpSynced();
    const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n';
    const numbers = Array.from({ length: 20_000 }, (_, index) => ({ i: index + 1 }));
    const ask = async (format: string, limit = numbers.length) =>
      (await bench.run(['query', `${endless} LIMIT ${limit}`, '--format', format])).stdout.trimEnd();
    expect(JSON.parse(await ask('json'))).toEqual(numbers);
    expect(JSON.parse(await ask('json', 10_000))).toHaveLength(10_000);
    expect((await ask('ndjson')).split('\n').map((line) => JSON.parse(line))).toEqual(numbers);
    expect((await ask('csv')).split('\n')).toEqual(['i', ...numbers.map(({ i }) => String(i))]);
    const table = await bench.run(['query', endless]);
    expect(table.stdout.trimEnd().split('\n')).toHaveLength(100_001);
    expect(table.stderr).toMatch(/more rows than a table takes; these are the first 100000 -> use --format ndjson/);
  });

  it('prints rows of megabytes, however many, in little memory', async () => {
    const bench = await setUpSynced();
    const sql = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100)
      SELECT printf('%.*c', 1000000, 'x') AS x FROM n`;
    const little = { NODE_OPTIONS: '--max-old-space-size=64' };
    const asked = await bench.runProcess(['query', '--format', 'ndjson', sql], little, { into: 'wc -l' });
    expect(asked).toMatchObject({ code: 0, stdout: '100\n' });
  });

  it('escapes at a terminal what programs read raw', async () => {
    const bench = await setUpSynced();
    const sql = 'SELECT char(155) || char(8238) AS hostile';
    for (const [format, raw] of [
      ['json', '[{"hostile":"\u009b\u202e"}]'],
      ['csv', 'hostile\n\u009b\u202e'],
    ] as const) {
      expect((await bench.run(['query', sql, '--format', format])).stdout).toBe(`${raw}\n`);
      const terminal = startAtTerminal(`query "${sql}" --format ${format}`, {
        cwd: bench.folder,
        env: bench.env,
        columns: 80,
      });
      expect(await terminal.waitForExit()).toBe(0);
      expect(terminal.screen()).toContain('\\u009b\\u202e');
      expect(terminal.screen()).not.toMatch(/[\u009b\u202e]/);
    }
  });
});

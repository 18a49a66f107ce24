import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setUpSynced } from '../support/bench.ts';
import { askSqlite3, execute, readRows } from '../support/database.ts';
import { fingerprint } from '../support/folder.ts';

describe("Debian's sqlite3 program", () => {
  it.each(['.dump', '.clone'])(
    'makes a copy by %s that is refused with a command that makes it usable',
    async (how) => {
      const bench = await setUpSynced();
      const copy = join(bench.folder, "it's a copy.db");
      const script = how === '.dump' ? 'sqlite3 "$1" .dump | sqlite3 "$2"' : `sqlite3 "$1" '.clone "'"$2"'"' 2>&1`;
      runShell(script, bench.database, copy);
      const env = { LEAGUE_SYNC_DATABASE: copy };
      const before = fingerprint(bench.folder);
      for (const command of ['sync', 'status', 'check']) await bench.run([command], env);
      expect(fingerprint(bench.folder)).toEqual(before);
      const { code, stderr } = await bench.run(['sync'], env);
      expect(code).toBe(74);
      runShell(/set them: (.*)\.$/.exec(stderr.trim())?.[1] ?? 'exit 1');
      expect(await bench.run(['sync'], env)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('unchanged: 124'),
      });
      expect(readRows(copy, 'SELECT * FROM league_versions')).toEqual(bench.rows('SELECT * FROM league_versions'));
    },
  );

  it('rescues what is left of a damaged database, by the commands of the documents', async () => {
    const bench = await setUpSynced();
    const sql = "SELECT max(pageno) AS page FROM dbstat WHERE name = 'league_changes' AND pagetype = 'leaf'";
    const page = Number(askSqlite3(bench.database, sql)[0]?.page);
    const bytes = readFileSync(bench.database);
    writeFileSync(bench.database, bytes.fill('Z', (page - 1) * 4_096, page * 4_096));
    expect((await bench.run(['check'])).stdout).toMatch(/^fail {2}database .* is damaged .*rescue what is left/m);
    runShell(`cd "$1" && ${recipeOf('Rescue')}`, bench.folder);
    const env = { LEAGUE_SYNC_DATABASE: 'data/rescued.db' };
    expect(await bench.run(['sync'], env)).toMatchObject({ code: 0, stdout: expect.stringContaining('124 received') });
  });

  it('shrinks a file whose runs were pruned, by the command of the documents, and all else stays', async () => {
    const bench = await setUpSynced();
    const year = `INSERT INTO runs (kind, trigger, started_at, finished_at, outcome, attempts, fingerprint, program_version)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
      SELECT 'profile', 'schedule', at, at, 'unchanged', 1, 'f', '1' FROM n, (SELECT finished_at AS at FROM runs LIMIT 1)`;
    execute(bench.database, `${year}; DELETE FROM runs WHERE kind = 'profile' AND id < 50000`);
    const kept = ['database_identity', 'league_changes', 'runs'].map((table) => `SELECT * FROM ${table}`);
    const [before, size] = [kept.map(bench.rows), statSync(bench.database).size];
    runShell(`cd "$1" && ${recipeOf('Shrink')}`, bench.folder);
    expect(statSync(bench.database).size).toBeLessThan(size / 5);
    expect(kept.map(bench.rows)).toEqual(before);
    expect(await bench.run(['sync'])).toMatchObject({ code: 0, stdout: expect.stringContaining('unchanged: 124') });
  });
});

function recipeOf(heading: string): string {
  const text = readFileSync('docs/operations.md', 'utf8');
  return new RegExp(`### ${heading}.*?\`\`\`sh\\n(.*?)\`\`\``, 's').exec(text)?.[1] ?? 'exit 1';
}

function runShell(script: string, ...args: readonly string[]): void {
  execFileSync('sh', ['-c', script, 'sh', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
}

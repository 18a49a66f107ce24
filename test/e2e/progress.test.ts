import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { setUpSynced } from '../support/bench.ts';
import { execute } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { eventually } from '../support/program.ts';
import { fail, hang, startService } from '../support/service.ts';
import { CONTROL_C, needTerminal, startAtTerminal } from '../support/terminal.ts';

needTerminal();

it.each([
  ['sync', 'nothing was written except the interrupted run'],
  ['sync --dry-run', 'nothing was written'],
  ['check', 'nothing was written'],
])('%s at a terminal says what it waits for, and after Ctrl-C what was written', async (command, written) => {
  await using service = await startService({ login: [fail(503), hang()] });
  const { path: cwd } = makeFolder();
  const account = { LEAGUE_SYNC_USERNAME: 'player', LEAGUE_SYNC_PASSWORD: 'secret-password' };
  const env = { TERM: 'xterm', LEAGUE_SYNC_BASE_URL: service.url, ...account };
  const terminal = startAtTerminal(command, { cwd, env, columns: 100 });
  const line = 'logging in: no answer yet, 1 s of 30 s, attempt 2 of 4\r\n';
  await eventually('it waits', () => terminal.raw().includes(line));
  terminal.type(CONTROL_C);
  expect(await terminal.waitForExit()).toBe(130);
  // The line of progress is gone.
  expect(terminal.raw().split('\r\u001b[A\u001b[J').at(-1)).toBe(`league-sync: stopped; ${written}\r\n`);
});

it('check ends at Ctrl-C while it waits for a server that never speaks TLS', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close());
  await once(silent, 'listening');
  const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const account = { LEAGUE_SYNC_USERNAME: 'player', LEAGUE_SYNC_PASSWORD: 'secret-password' };
  const env = { TERM: 'xterm', LEAGUE_SYNC_BASE_URL: url, ...account };
  const terminal = startAtTerminal('check', { cwd: makeFolder().path, env, columns: 100 });
  await eventually('it waits', () => terminal.raw().includes('connecting to the service\r\n'));
  terminal.type(CONTROL_C);
  expect(await terminal.waitForExit()).toBe(130);
  expect(terminal.raw()).toMatch(/stopped; nothing was written\r\n$/);
});

it('verify at a terminal says that it reads a large file, in which it can say nothing else', async () => {
  const { database, folder } = await setUpSynced();
  execute(database, 'CREATE TABLE padding (bytes)');
  execute(database, 'INSERT INTO padding VALUES (zeroblob(60000000))');
  const terminal = startAtTerminal(`verify ${database}`, { cwd: folder, env: { TERM: 'xterm' }, columns: 100 });
  expect(await terminal.waitForExit()).toBe(0);
  const lines = terminal.raw().split('\r\u001b[A\u001b[J');
  expect(lines).toEqual([
    'reading 60 MB\r\n',
    expect.stringMatching(/integrity_check, 60 MB.*comparing the feed with the leagues\r\n$/s),
    expect.stringMatching(/feed .*6 ok/s),
  ]);
});

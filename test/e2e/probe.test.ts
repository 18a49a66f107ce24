import { mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askFaults, checkLive } from '../../src/observe/probe-client.ts';
import { setUp } from '../support/bench.ts';
import { runCommand } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { openPort } from '../support/port.ts';
import { type Exit, runProgram } from '../support/program.ts';
import { serveHere } from '../support/status-server.ts';

/** The probe, with one setting and no database; as a process if a worker runs in this one, in another folder. */
function probe(listen: string, cwd = makeFolder().path, run: typeof runProgram = runCommand): Promise<Exit> {
  return run(['status', '--probe'], { cwd, env: { LEAGUE_SYNC_LISTEN: listen } });
}

/** A server that answers every request alike. */
async function openImpostor(status: number, body: string): Promise<number> {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  return (await openPort(server)).port;
}

describe('status --probe', () => {
  it('exits 0 with one line if the worker is responsive, and needs no other setting and no database', async () => {
    const { port, worker } = await serveHere(await setUp());
    const { path: cwd } = makeFolder();
    expect(await probe(`127.0.0.1:${port}`, cwd, runProgram)).toMatchObject({
      code: 0,
      stdout: `http://127.0.0.1:${port}/livez is live\n`,
      stderr: '',
    });
    expect(readdirSync(cwd)).toEqual([]);
    await worker.stop();
    expect(await probe(`127.0.0.1:${port}`, cwd, runProgram)).toMatchObject({
      code: 1,
      stdout: `http://127.0.0.1:${port}/livez refused the connection; no worker is running there\n`,
    });
  });

  it.each([
    ['0.0.0.0', '127.0.0.1'],
    ['[::]', '[::1]'],
  ])('asks a worker that listens on %s at %s', async (all, loopback) => {
    const bench = await setUp();
    const { port } = await serveHere(bench, { LEAGUE_SYNC_LISTEN: `${all}:0` });
    const { code, stdout } = await probe(`${all}:${port}`, undefined, runProgram);
    expect([code, stdout]).toEqual([0, `http://${loopback}:${port}/livez is live\n`]);
  });

  it.each(['off', '127.0.0.1:0'])('says for %s that no worker can be asked, and exits 1', async (listen) => {
    const { code, stdout } = await probe(listen);
    expect(code).toBe(1);
    expect(stdout).toBe(
      `LEAGUE_SYNC_LISTEN is ${listen}, so no worker can be asked; set it to an address with a port\n`,
    );
  });

  it('does not look into a .env for what the environment says', async () => {
    const { port } = await serveHere(await setUp());
    const { path: cwd } = makeFolder();
    mkdirSync(join(cwd, '.env'));
    expect(await probe(`127.0.0.1:${port}`, cwd, runProgram)).toMatchObject({ code: 0, stderr: '' });
    expect(await runProgram(['status', '--probe'], { cwd, env: {} })).toMatchObject({ code: 78 });
  });

  it('refuses an invalid address with 78', async () => {
    const { code, stderr } = await probe('here');
    expect([code, stderr]).toEqual([78, expect.stringContaining('LEAGUE_SYNC_LISTEN: "here" is not valid')]);
  });

  it.each([
    [200, 'ok'],
    [200, '{"live":false}'],
    [200, 'x'.repeat(1_000_000)],
    [404, '{"live":true}'],
  ])('takes no other program for the worker (%i %.20s)', async (status, body) => {
    const port = await openImpostor(status, body);
    expect(await probe(`127.0.0.1:${port}`)).toMatchObject({
      code: 1,
      stdout: `http://127.0.0.1:${port}/livez was answered with status ${status}, and not by league-sync\n`,
      stderr: '',
    });
  });

  it('says so of a server that never ends its answer', async () => {
    const says = 'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"live';
    const { port } = await openPort(createSocketServer((socket) => socket.write(says)));
    expect(await checkLive({ host: '127.0.0.1', port }, 100)).toBe(
      'was answered with status 200, and not by league-sync',
    );
  });
});

it('status asks the worker only for what the file cannot say', async () => {
  const reasons = ['stale', 'database'].map((reason) => ({ reason, message: `because of ${reason}` }));
  const port = await openImpostor(503, JSON.stringify({ reasons }));
  expect(await askFaults({ host: '127.0.0.1', port }, 1_000)).toEqual(['because of database']);
});

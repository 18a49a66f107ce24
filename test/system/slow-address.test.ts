import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { setUp, setUpFor } from '../support/bench.ts';

/** Hands connections on to the port, and takes the first ones only after it is continued. */
const LISTENER = `const { connect, createServer } = require('node:net');
createServer((client) => client.on('error', () => {}).pipe(connect(process.argv[1], '127.0.0.1')).on('error', () => {}).pipe(client))
  .listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port); });`;
/** Longer than Node's limit for an address. The kernel tries again after a second. */
const STOPPED_MS = 400;

it('a service is reached if its first address is slow and its second refuses', async ({ skip }) => {
  skip(process.getuid?.() !== 0, 'only root can replace /etc/hosts in a namespace');
  const { simulator } = await setUp();
  const listener = spawn(process.execPath, ['-e', LISTENER, String(new URL(simulator.url).port)]);
  onTestFinished(() => void listener.kill('SIGKILL'));
  const [line] = await once(listener.stdout, 'data');
  const port = Number(String(line));
  const bench = setUpFor(`http://slow.example.test:${port}`);
  const hosts = `127.0.0.1 slow.example.test\n127.0.0.2 slow.example.test`;
  const script = `printf '${hosts}' > hosts && mount --bind hosts /etc/hosts && exec "$0" "$@"`;
  listener.kill('SIGSTOP');
  // Full, so that the kernel drops the first packet of the next one.
  for (let waiting = 0; waiting < 4; waiting += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
  }
  const through = ['unshare', '--mount', 'sh', '-c', script];
  const sync = bench.start(['sync'], { LEAGUE_SYNC_ALLOW_HTTP: 'true' }, { through });
  await wait(STOPPED_MS + 800);
  listener.kill('SIGCONT');
  expect((await sync.waitForExit()).code).toBe(0);
  expect(bench.rows('SELECT outcome FROM logins')).toEqual([{ outcome: 'ok' }]);
});

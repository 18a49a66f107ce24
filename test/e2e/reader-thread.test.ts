import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { PROGRAM } from '../support/program.ts';
import { createElement, listingOf, VERSION } from '../support/unit-league.ts';

/** Without it, first loads would be as good, and two seconds slower. */
it('the program as it ships is a thread that reads leagues, too', async () => {
  const { elements } = listingOf(JSON.stringify({ leagues: [createElement({ league_id: 'one' })] }));
  const { port1: ours, port2: port } = new MessageChannel();
  const flow = new Int32Array(new SharedArrayBuffer(8));
  const thread = new Worker(PROGRAM, { env: {} });
  try {
    thread.postMessage({ list: elements?.share(), programVersion: VERSION, port, flow }, [port]);
    const [first] = await once(ours, 'message');
    expect(first).toMatchObject({ kind: 'leagues', values: expect.arrayContaining(['one']) });
  } finally {
    ours.close();
    await thread.terminate();
  }
});

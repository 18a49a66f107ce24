import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startServer, textResponse } from '../../src/observe/server.ts';

/** More than the socket buffer of a reader that takes nothing. */
const LARGE_BYTES = 64_000_000;
/** Longer than the server waits for such a reader: Node checks twice before a connection counts as stalled. */
const PATIENCE_MS = 23_000;

it('a client that reads no byte of a response for long is disconnected', async () => {
  const answering = async () => textResponse('x'.repeat(LARGE_BYTES));
  await using door = await startServer({ host: '127.0.0.1', port: 0 }, answering);
  const socket = connect(Number(new URL(door.url).port), '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  let bytes = 0;
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  socket.on('data', (part) => {
    bytes += part.length;
  });
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nConnection: close\r\nHost: 127.0.0.1\r\n\r\n');
  await wait(PATIENCE_MS);
  // The buffered bytes come first, then the end.
  socket.resume();
  await closed;
  expect(bytes).toBeLessThan(LARGE_BYTES);
});

// Preloaded into a worker: at SIGUSR2 its event loop stands still, as in a computation or a read that does not end.
process.on('SIGUSR2', () => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(process.env.BLOCK_MS));
});

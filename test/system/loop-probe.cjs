// Preloaded into a worker whose event loop is watched. Not TypeScript, like soak-probe.cjs.
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { renameSync, writeFileSync } = require('node:fs');

const target = process.env.LOOP_PROBE;
const RESOLUTION_MS = 10;
const NANOSECONDS = 1e6;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();

// Tells the longest time for which the loop stood still since it was asked last.
process.on('SIGUSR2', () => {
  writeFileSync(`${target}.part`, JSON.stringify({ longestMs: delays.max / NANOSECONDS }));
  renameSync(`${target}.part`, target);
  delays.reset();
});

// Preloaded into the worker that is soaked. Not TypeScript: stripping types would load into the process that is
// measured what the program itself never loads.
const { renameSync, writeFileSync } = require('node:fs');

const target = process.env.SOAK_PROBE;

function collectTwice(then) {
  globalThis.gc();
  // What a weak reference was asked for in this turn stays until the next one, and only then do its owners clean up.
  setTimeout(() => {
    globalThis.gc();
    then();
  }, 10).unref();
}

function tell() {
  const resources = {};
  for (const type of process.getActiveResourcesInfo()) resources[type] = (resources[type] ?? 0) + 1;
  const told = { memory: process.memoryUsage(), resources };
  writeFileSync(`${target}.part`, JSON.stringify(told));
  renameSync(`${target}.part`, target);
}

process.on('SIGUSR2', () => {
  collectTwice(() => collectTwice(tell));
});

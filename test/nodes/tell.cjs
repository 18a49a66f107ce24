// Loaded into every Node process of a run: writes which Node it is and what it runs, one line each.
const { appendFileSync } = require('node:fs');
const { basename } = require('node:path');
const { isMainThread } = require('node:worker_threads');

if (process.env.RAN !== undefined && isMainThread) {
  appendFileSync(process.env.RAN, `${process.version} ${basename(process.argv[1] ?? '-')}\n`);
}

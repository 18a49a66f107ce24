// Preloaded into a worker whose event loop is watched. Not TypeScript, so that nothing is compiled in the worker.
const Database = require('better-sqlite3');
const { renameSync, writeFileSync } = require('node:fs');

const target = process.env.LOOP_PROBE;
const TICK_MS = 5;
/** A timer is late by this much on an idle loop, too. */
const NOTICED_MS = 20;

let blocks = [];
let transactions = [];
let last = performance.now();

setInterval(() => {
  const now = performance.now();
  if (now - last - TICK_MS > NOTICED_MS) blocks.push({ from: last + TICK_MS, to: now });
  last = now;
}, TICK_MS).unref();

// What is written is written in transactions that are immediate; the lock, which stays open for ever, is none of them.
const { transaction } = Database.prototype;
Database.prototype.transaction = function (work) {
  const made = transaction.call(this, work);
  const immediate = (...given) => {
    const from = performance.now();
    try {
      return made.immediate(...given);
    } finally {
      transactions.push({ from, to: performance.now() });
    }
  };
  return Object.assign((...given) => made(...given), {
    default: made.default,
    deferred: made.deferred,
    immediate,
    exclusive: made.exclusive,
    database: made.database,
  });
};

// Tells what happened since it was asked last.
process.on('SIGUSR2', () => {
  writeFileSync(`${target}.part`, JSON.stringify({ blocks, transactions }));
  renameSync(`${target}.part`, target);
  blocks = [];
  transactions = [];
});

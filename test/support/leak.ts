import { resolve, sep } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished, TestRunner } from 'vitest';
import { createSecrets, filesBelow, readWhatIsThere, type Secrets, type Start } from './secrets.ts';

/** How long to wait for processes that inherited a pipe of the program. */
const LONGEST_DRAIN_MS = 1_000;
/** The format of the simulator's tokens: those of a simulator in its own process are not known otherwise. */
const SIMULATED_TOKEN = /(?<![\w-])[\w-]{43}(?![\w-])/;

const folders = new Set<string>();
/** The number of checks that are still to run in this test. */
let pending = 0;
let secrets: Secrets | undefined;

/** Calls `look` at the end of the test, and forgets the secrets of the test after the last call. */
function atEndOfTest(look: (secrets: Secrets) => void | Promise<void>): Secrets {
  secrets ??= createSecrets();
  const known = secrets;
  // A test before this one may have sent a secret without a search for it.
  if (pending === 0) known.forget();
  pending += 1;
  onTestFinished(async () => {
    try {
      await look(known);
    } finally {
      pending -= 1;
      if (pending === 0) known.forget();
    }
  });
  return known;
}

/**
 * Fails the test if a file below the folder contains a secret when the test ends or the returned function is called;
 * then calls `remove`. Outside of a test, and in concurrent tests, nothing is searched and nothing ends by itself.
 */
export function watchFolder(folder: string, remove: () => void): () => void {
  folders.add(folder);
  const end = (known?: Secrets): void => {
    if (!folders.delete(folder)) return;
    try {
      if (known !== undefined) searchBelow(folder, known);
    } finally {
      remove();
    }
  };
  const test = TestRunner.getCurrentTest();
  if (test === undefined || test.concurrent) return () => end();
  const known = atEndOfTest(end);
  return () => end(known);
}

/**
 * Fails the test if the program prints a secret: one that it was given, or one that was sent or received. `output`
 * returns its streams by name; it is called at the end of the test, after `ended`.
 */
export function watchProgram(
  start: Start,
  output: () => Readonly<Record<string, string>>,
  ended: Promise<unknown>,
): void {
  const place = resolve(start.cwd);
  if (![...folders].some((folder) => `${place}${sep}`.startsWith(`${folder}${sep}`)))
    throw new Error('Start the program in a folder of makeFolder, so that what it leaves is searched for secrets.');
  const known = atEndOfTest(async () => {
    await Promise.race([ended.catch(() => undefined), wait(LONGEST_DRAIN_MS, undefined, { ref: false })]);
    // A secret file may have been rotated in the meantime.
    known.collect(start);
    for (const [stream, text] of Object.entries(output())) {
      const what = `${stream} of ${start.args.join(' ')}`;
      expectClean(known, what, Buffer.from(text));
      if (/^(demo|simulate)$/.test(start.args[0] ?? '') && SIMULATED_TOKEN.test(text))
        throw new Error(`${what} holds a token.`);
    }
  });
  known.collect(start);
}

function searchBelow(folder: string, known: Secrets): void {
  for (const file of filesBelow(folder))
    if (!known.isSource(file)) expectClean(known, file.slice(folder.length + 1), readWhatIsThere(file));
}

function expectClean(known: Secrets, what: string, bytes: Buffer): void {
  const found = known.findIn(bytes);
  if (found !== undefined) throw new Error(`${what} holds ${found}.`);
}

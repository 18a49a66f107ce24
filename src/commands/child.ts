import { EXIT, RefusedError, SettingsError, toRunError } from '../errors.ts';
import type { ChildMessage } from '../outputs/child-process.ts';
import type { ProcessIO } from './command.ts';

const ALIVE_EVERY_MS = 1_000;

type Say = (message: ChildMessage) => Promise<void>;

/** Does the work of a child process, and prints what `runChild` reads. Without a reader, a child in mode `readOnly` ends. */
export async function answerParent(io: ProcessIO, work: (say: Say) => Promise<unknown>): Promise<number> {
  const say: Say = (message) => io.print(JSON.stringify(message));
  const alive = setInterval(() => void say({}), ALIVE_EVERY_MS).unref();
  // If the process ends now, it was not because the program could not be started.
  void say({});
  try {
    await say({ result: (await work(say)) ?? null });
  } catch (error) {
    await say({ error: describe(error) });
  }
  clearInterval(alive);
  return EXIT.done;
}

function describe(error: unknown): NonNullable<ChildMessage['error']> {
  const [problem] = error instanceof SettingsError ? error.problems : [];
  if (problem !== undefined) return { kind: 'settings', what: problem.message, fix: problem.fix };
  const { kind, what, fix } = toRunError(error);
  return { kind: error instanceof RefusedError ? 'refused' : kind, what, ...(fix && { fix }) };
}

import { EXIT } from '../errors.ts';
import { describeReport } from '../sync/report.ts';
import type { ProcessIO } from './command.ts';

/** Prints the result of a poll that did not fail, for `sync` and `poll`. Resolves with the exit code. */
export async function printResult(
  { say, print, terminal }: ProcessIO,
  result: Parameters<typeof describeReport>[0],
): Promise<number> {
  const message = describeReport(result);
  const fix = 'league-sync accept-removals shows them';
  if (result.outcome !== 'held') {
    await say(message);
    return EXIT.done;
  }
  if (terminal === undefined) await print(`${message}; ${fix}`);
  else await print((await import('../terminal/text.ts')).formatNotice('', { message, fix }, terminal));
  return EXIT.held;
}

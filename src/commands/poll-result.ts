import { EXIT } from '../errors.ts';
import { describeReport } from '../sync/report.ts';
import type { ProcessIO } from './command.ts';

/** Prints the result of a poll that did not fail, for `sync` and `poll`. Resolves with the exit code. */
export async function printResult(io: ProcessIO, result: Parameters<typeof describeReport>[0]): Promise<number> {
  const isHeld = result.outcome === 'held';
  await io.say(`${describeReport(result)}${isHeld ? '; league-sync accept-removals shows them' : ''}`);
  return isHeld ? EXIT.held : EXIT.done;
}

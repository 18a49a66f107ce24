import { EXIT } from '../errors.ts';
import { describeReport } from '../sync/report.ts';
import { escapeAdvice, isPipe } from '../terminal/style.ts';
import type { ProcessIO } from './command.ts';

const FIRST_QUERY = '→ league-sync query "SELECT league_name, sport FROM active_leagues"';

/** Prints the result of a poll that did not fail, for `sync` and `poll`. Resolves with the exit code. */
export async function printResult(io: ProcessIO, result: Parameters<typeof describeReport>[0]): Promise<number> {
  const { outcome, counts } = result;
  const isHeld = outcome === 'held';
  await io.say(describeReport(result) + (isHeld ? '; league-sync accept-removals shows them' : ''));
  const isFirst = counts.added > 0 && counts.added === counts.received;
  if (isFirst && !isPipe(io.terminal)) await io.print(escapeAdvice(FIRST_QUERY, io.terminal));
  return isHeld ? EXIT.held : EXIT.done;
}

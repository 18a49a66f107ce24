import { EXIT } from '../errors.ts';
import { describeCounts, describeReport, type RunCounts } from '../sync/report.ts';
import { escapeAdvice, isPipe } from '../terminal/style.ts';
import { formatCount, formatDuration } from '../time/duration.ts';
import type { ProcessIO } from './command.ts';

const FIRST_QUERY = 'league-sync query "SELECT league_name, sport FROM active_leagues"';

/** Prints the result of a poll that did not fail, for `sync` and `poll`. Resolves with the exit code. */
export async function printResult(io: ProcessIO, result: Parameters<typeof describeReport>[0]): Promise<number> {
  const { outcome, counts, durationMs, heldBecause: because } = result;
  const isHeld = outcome === 'held';
  const held = isHeld ? '; league-sync accept-removals shows them' : '';
  const took = `(${formatDuration(durationMs)})`;
  const news = `leagues  ${describeNews(counts, result.httpStatus, because)} ${took}`;
  await io.say((isPipe(io.terminal) ? describeReport(result) : news) + held);
  const isFirst = counts.added > 0 && counts.added === counts.received;
  if (!isPipe(io.terminal) && isFirst) await io.print(escapeAdvice(`→ ${FIRST_QUERY}`, io.terminal));
  return isHeld ? EXIT.held : EXIT.done;
}

/** For a person, such as `3 changed`: what is as before goes without saying. */
export function describeNews(
  counts: RunCounts,
  httpStatus: number | undefined,
  heldBecause: string | undefined,
): string {
  const news = describeCounts({ ...counts, unchanged: 0 }, httpStatus).replace(/^\d+ received(?:, )?/, '');
  return (
    (news.replaceAll(/\d+/g, (number) => formatCount(Number(number))) ||
      (counts.received === 0 ? 'an empty list' : `${formatCount(counts.received)} received, as before`)) +
    (heldBecause === undefined ? '' : `: ${heldBecause}`)
  );
}

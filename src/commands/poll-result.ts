import { EXIT } from '../errors.ts';
import { describeReport, type RunReport } from '../sync/report.ts';
import { paragraph } from '../terminal/paragraph.ts';
import type { ProcessIO } from './command.ts';

type PollResult = Parameters<typeof describeReport>[0];

/** The line that `sync` and `poll` print about a poll that did not fail. */
export async function describeResult(result: PollResult, { terminal }: Pick<ProcessIO, 'terminal'>): Promise<string> {
  const message = describeReport(result);
  const fix = 'league-sync accept-removals shows them';
  if (result.outcome !== 'held') return paragraph(message, terminal);
  if (terminal === undefined) return `${message}; ${fix}`;
  const { formatNotice } = await import('../terminal/text.ts');
  return formatNotice('', { message, fix }, terminal);
}

export function exitCodeOfResult(outcome: RunReport['outcome']): number {
  return outcome === 'held' ? EXIT.held : EXIT.done;
}

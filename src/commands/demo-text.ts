import type { Log } from '../log.ts';
import { describeFields, nameBefore } from '../store/change-words.ts';
import type { Change } from '../store/queries/feed.ts';
import type { RunReport } from '../sync/report.ts';
import { escapeControls, isPipe, type Terminal } from '../terminal/style.ts';
import { formatRecord } from '../terminal/table.ts';
import { hangingIndent, plural, truncate } from '../terminal/text.ts';
import { formatSecond, systemClock } from '../time/clock.ts';
import type { ProcessIO } from './command.ts';

/** What a demo prints at once; a second text of one name has an empty name. */
export type Block = readonly (readonly [name: string, text: string])[];

type Narration = {
  readonly log: Log;
  readonly terminal: Terminal;
  /** The command that shows what is held. */
  readonly acceptRemovals: string;
};

/** At a terminal, tells of a demo in lines of its own. Elsewhere, adds to the log, which tells of every poll anyway. */
export function createNarration({ print }: Pick<ProcessIO, 'print'>, { log, terminal, acceptRemovals }: Narration) {
  const isNarrated = !isPipe(terminal);
  let lastReason: string | undefined;
  const show = async (block: Block, before: string, after: string): Promise<void> => {
    const typed = block.map(([name, text]) => [name, terminal.asTyped(text)] as const);
    if (isNarrated) await print(before + formatRecord(typed, terminal) + after);
    else for (const [name, text] of typed) log.info(name === '' ? text : `${name}: ${text}`);
  };
  return {
    open: (block: Block): Promise<void> => show(block, '', '\n'),
    close: (block: Block): Promise<void> => show(block, '\n', ''),
    tell: (report: RunReport, entries: readonly Change[]): void => {
      const text = escapeControls(describePoll(report, entries));
      if (!isNarrated) {
        if (report.wrote) log.info(`  ${text}`);
        return;
      }
      const { columns, paint } = terminal;
      const at = `${formatSecond(systemClock.now()).slice(-'hh:mm:ssZ'.length)}  `;
      const tone = TONES[report.outcome];
      const indent = ' '.repeat(at.length);
      const reason = reasonOf(report);
      const isNew = reason !== undefined && reason !== lastReason;
      lastReason = reason;
      const why = isNew ? hangingIndent(indent, escapeControls(reason), columns) : [];
      const next = isNew && report.outcome === 'held' ? [`${indent}→ ${terminal.asTyped(acceptRemovals)}`] : [];
      const lines = [...why, ...next].map((line) => paint(tone, line));
      void print([paint('faint', at) + paint(tone, truncate(text, columns - at.length)), ...lines].join('\n'));
    },
  };
}

function reasonOf({ error, heldBecause }: RunReport): string | undefined {
  return error?.message ?? (heldBecause === undefined ? undefined : `held because ${heldBecause}`);
}

const TONES = { changed: 'plain', unchanged: 'faint', held: 'warning', failed: 'bad', interrupted: 'warning' } as const;

const COUNTED = ['added', 'changed', 'restored', 'removed', 'rejected', 'held'] as const;

/** Such as `2 changed: NFL, UFL`. A single change has its old and its new value. `entries` may be the first of many. */
export function describePoll({ outcome, counts, error, newFindings }: RunReport, entries: readonly Change[]): string {
  if (error !== undefined) return outcome;
  const drift = newFindings?.drift.length ?? 0;
  const parts = COUNTED.filter((name) => counts[name] > 0).map((name) => `${counts[name]} ${name}`);
  if (drift > 0) parts.push(`${plural(drift, 'departure')} from the interface`);
  const count = parts.join(', ') || 'nothing changed';
  const [first, ...others] = entries;
  if (first === undefined) return count;
  if (others.length === 0) return `${count}: ${`${nameBefore(first) ?? ''} ${describeFields(first)}`.trim()}`;
  const more = counts.added + counts.changed + counts.restored + counts.removed - entries.length;
  return `${count}: ${entries.map(nameBefore).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

import { pino } from 'pino';
import { describeError, type Log } from '../../src/log.ts';
import { requireLogNames } from './log-names.ts';

/** A log line with the name of its level. */
export type Logged = { readonly level: string; readonly msg: string } & Readonly<Record<string, unknown>>;

/** A log whose lines a test reads. */
export function createTestLog(): { readonly log: Log; readonly lines: readonly Logged[] } {
  const lines: Logged[] = [];
  const options = {
    level: 'trace',
    base: null,
    serializers: { err: describeError },
    formatters: { level: (level: string) => ({ level }) },
  };
  const write = (text: string): void => {
    const line = JSON.parse(text);
    requireLogNames([line]);
    lines.push(line);
  };
  return { log: pino(options, { write }), lines };
}

/** Level and words of each line. */
export function wordsOf(lines: readonly Logged[]): readonly string[] {
  return lines.map(({ level, msg }) => `${level} ${msg}`);
}

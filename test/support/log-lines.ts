import { pino } from 'pino';
import { describeError, type Log } from '../../src/log.ts';

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

const SNAKE_CASE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;

/** Throws if a line of the log, unlike other JSON, has a field whose name is not snake_case. */
export function requireLogNames(lines: readonly Readonly<Record<string, unknown>>[]): void {
  for (const line of lines) {
    const odd = 'level' in line && 'time' in line ? oddNamesIn(line) : [];
    if (odd.length > 0) throw new Error(`not snake_case in the log: ${odd.join(', ')}\n${JSON.stringify(line)}`);
  }
}

function oddNamesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const names = Array.isArray(value) ? [] : Object.keys(value).filter((name) => !SNAKE_CASE.test(name));
  return [...names, ...Object.values(value).flatMap(oddNamesIn)];
}

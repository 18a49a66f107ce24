import { pino } from 'pino';
import type { LogConfig } from './config/config.ts';
import { codeOf, RunError } from './errors.ts';
import { createPaint, type Paint, type Tone, visible } from './terminal/style.ts';

export type Log = pino.Logger;

/** A log and the way to end it: whoever opens one closes it before the process ends. */
export type OpenLog = { readonly log: Log; readonly close: () => Promise<void> };

/** A reader that stopped reading costs this much memory and then log lines, never the worker. */
const LARGEST_BACKLOG_BYTES = 1_048_576;
/** How long the end of the process waits for a slow reader to take the last lines. */
const LONGEST_CLOSING_MS = 2_000;

/**
 * Opens the log on a file descriptor: JSON lines, or readable text. Writing never blocks the program. After `close`
 * everything that was logged is written out, unless nobody reads it.
 */
export function openLog(config: LogConfig, fd: 1 | 2, terminal: boolean, color: boolean): OpenLog {
  const out = pino.destination({ fd, sync: false, maxLength: LARGEST_BACKLOG_BYTES });
  // A log disk that is full costs log lines, never the worker.
  out.on('error', () => undefined);
  const pretty = (config.format ?? (terminal ? 'pretty' : 'json')) === 'pretty';
  const options: pino.LoggerOptions = {
    level: config.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
  };
  const log = pretty ? pino(options, prettify(out, createPaint(color))) : pino(options, out);
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        // Without this the library would wait at the process's exit, for ever if nobody reads or the disk is full.
        out.destroy();
        resolve();
      };
      // Keeps the process alive meanwhile: it must not come to that exit before.
      const timer = setTimeout(end, LONGEST_CLOSING_MS);
      out.once('close', end);
      out.end();
    });
  return { log, close };
}

/** What is read of a line that pino has written. */
export type Written = {
  readonly level: number;
  readonly time: string;
  readonly msg?: string;
  readonly err?: { readonly stack?: string };
};

function prettify(out: pino.DestinationStream, paint: Paint): pino.DestinationStream {
  return { write: (line) => out.write(`${formatLine(JSON.parse(line), paint)}\n`) };
}

/** For people, in UTC: `2026-11-22 19:52:10Z INFO  leagues: …`, and below it the stack of what was not foreseen. */
export function formatLine({ level, time, msg = '', err }: Written, paint: Paint): string {
  const at = `${time.slice(0, 19).replace('T', ' ')}Z`;
  const name = (pino.levels.labels[level] ?? '').toUpperCase().padEnd(LEVEL_WIDTH);
  const stack = (err?.stack ?? '').split('\n').filter((line) => line !== '');
  return [`${paint('faint', at)} ${paint(toneOf(level), name)} ${visible(msg)}`, ...stack.map(visible)].join('\n');
}

const LEVEL_WIDTH = 5;

function toneOf(level: number): Tone {
  const { info, warn, error } = pino.levels.values;
  if (level >= (error ?? 0)) return 'bad';
  if (level >= (warn ?? 0)) return 'warning';
  return level >= (info ?? 0) ? 'good' : 'faint';
}

/**
 * What a log line says of an error. A list of what may be said, because errors of libraries carry requests, headers
 * and bodies, and with them tokens.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const known = error instanceof RunError;
  const foreseen = known && error.kind !== 'internal';
  return {
    type: error.name,
    message: error.message,
    ...(known ? { kind: error.kind, http_status: error.httpStatus } : {}),
    ...(foreseen ? {} : { stack: stackOf(error.cause instanceof Error ? error.cause : error) }),
    ...(error.cause instanceof Error ? { cause: nameOf(error.cause) } : {}),
  };
}

function nameOf(cause: Error): string {
  return `${cause.name} ${codeOf(cause)}`.trim();
}

function stackOf(error: Error): string | undefined {
  // The first lines of a stack repeat the message, which is not ours here.
  return error.stack
    ?.split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .join('\n');
}

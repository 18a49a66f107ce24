import { pino } from 'pino';
import type { LogConfig } from './config/config.ts';
import { RunError } from './errors.ts';

export type Log = pino.Logger;

/** A reader that stopped reading costs this much memory and then log lines, never the worker. */
const LARGEST_BACKLOG_BYTES = 1_048_576;

/**
 * Opens the log on a file descriptor: JSON lines, or readable text. Writing never blocks the program, and what was
 * logged before the program ends is written out by the time it has ended.
 */
export async function openLog(config: LogConfig, fd: 1 | 2, terminal: boolean, color: boolean): Promise<Log> {
  const options: pino.LoggerOptions = {
    level: config.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
  };
  if ((config.format ?? (terminal ? 'pretty' : 'json')) === 'json') {
    return pino(options, pino.destination({ fd, sync: false, maxLength: LARGEST_BACKLOG_BYTES }));
  }
  const { default: pretty } = await import('pino-pretty');
  return pino(
    options,
    pretty({ destination: fd, colorize: color, translateTime: 'SYS:HH:MM:ss', hideObject: true, sync: true }),
  );
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
    ...(known ? { kind: error.kind, httpStatus: error.httpStatus } : {}),
    ...(foreseen ? {} : { stack: stackOf(error.cause instanceof Error ? error.cause : error) }),
    ...(error.cause instanceof Error ? { cause: nameOf(error.cause) } : {}),
  };
}

function nameOf(cause: Error): string {
  return 'code' in cause && typeof cause.code === 'string' ? `${cause.name} ${cause.code}` : cause.name;
}

function stackOf(error: Error): string | undefined {
  // The first lines of a stack repeat the message, which is not ours here.
  return error.stack
    ?.split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .join('\n');
}

import { constants, openSync } from 'node:fs';
import { pino } from 'pino';
import type { LogConfig } from './config/config.ts';
import { codeOf, RunError } from './errors.ts';
import { escapeControls, isPipe, NARROW_COLUMNS, type Terminal, type Tone } from './terminal/style.ts';
import { hangingIndent } from './terminal/text.ts';
import { tryOrUndefined } from './try-or-undefined.ts';

export type Log = pino.Logger;

/** If more than this is buffered for a stuck reader, further log lines are dropped. */
const MAX_BUFFER_BYTES = 1_048_576;
/** How long (ms) the exit waits for a slow reader. */
const CLOSE_TIMEOUT_MS = 2_000;

/** Logging never blocks the program. `close` flushes everything, unless the reader is stuck. */
export function openLog(config: LogConfig, fd: number, terminal: Terminal) {
  const dest = isPipe(terminal) ? fd : openUnblocked(fd);
  const out = pino.destination({ dest, sync: false, maxLength: MAX_BUFFER_BYTES });
  // On a full disk, log lines are lost, but the worker must go on.
  out.on('error', () => undefined);
  const isPretty = (config.format ?? (isPipe(terminal) ? 'json' : 'pretty')) === 'pretty';
  const write = (line: string): void => {
    terminal.clear?.();
    out.write(isPretty ? `${formatLine(JSON.parse(line), terminal)}\n` : line);
  };
  const options: pino.LoggerOptions = {
    level: config.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
  };
  const log = pino(options, { write });
  const close = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    // The timer also keeps the process alive until the log is closed.
    const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    out.once('close', resolve);
    out.once('error', resolve);
    out.end();
    await promise;
    clearTimeout(timer);
    // Without this, pino's exit hook would wait forever if the reader is stuck or the disk is full.
    out.destroy();
  };
  return { log, close };
}

/** A terminal that takes nothing (Ctrl-S) would block a thread of Node, without which the process cannot end. */
function openUnblocked(fd: number): number {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  return tryOrUndefined(() => openSync(`/dev/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)) ?? fd;
}

type LogEntry = { level: number; time: string; msg?: string; err?: { stack?: string } };

const LEVEL_WIDTH = 5;
const NARROW_INDENT = 4;
const TONES: Readonly<Record<number, Tone>> = { 30: 'good', 40: 'warning', 50: 'bad', 60: 'bad' };

/** For example `2026-11-22 19:52:10Z INFO  leagues: …`. The stack of an unexpected error follows on its own lines. */
export function formatLine({ level, time, msg = '', err }: LogEntry, { paint, columns }: Terminal): string {
  const at = `${time.slice(0, 19).replace('T', ' ')}Z`;
  const name = (pino.levels.labels[level] ?? '').toUpperCase().padEnd(LEVEL_WIDTH);
  const stack = err?.stack?.split('\n') ?? [];
  const lead = `${paint('faint', at)} ${paint(TONES[level] ?? 'faint', name)} `;
  const indent = columns < NARROW_COLUMNS ? NARROW_INDENT : undefined;
  return [...hangingIndent(lead, escapeControls(msg), columns, indent), ...stack.map(escapeControls)].join('\n');
}

/** Copies only known fields: errors of libraries may contain requests, headers and bodies, and thus tokens. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const cause = error.cause instanceof Error ? error.cause : undefined;
  const isRunError = error instanceof RunError;
  const isExpected = isRunError && error.kind !== 'internal';
  return {
    type: error.name,
    message: error.message,
    ...(isRunError ? { kind: error.kind, http_status: error.httpStatus } : {}),
    // Only the `at` lines: the other lines of a stack repeat the message, and a library's message may hold secrets.
    ...(isExpected ? {} : { stack: (cause ?? error).stack?.match(/^ *at .*/gm)?.join('\n') }),
    ...(cause === undefined ? {} : { cause: `${cause.name} ${codeOf(cause)}`.trim() }),
  };
}

import buffer from 'node:buffer';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { tryOrUndefined } from '../../src/try-or-undefined.ts';

/** Prints everything, including hidden properties. */
const ALL = { depth: Number.POSITIVE_INFINITY, showHidden: true, maxArrayLength: null, maxStringLength: null };

/** Everything that Node, JSON and pino could print of an error, its causes, and the errors of an AggregateError. */
export function printEverything(error: unknown): string {
  return familyOf(error)
    .flatMap((one) => [
      inspectWhole(one),
      String(one),
      asJson(one),
      ...Reflect.ownKeys(one).map((key) => asJson(Reflect.get(one, key))),
      logged(one),
    ])
    .join('\n');
}

/** The error itself, its causes, and what an AggregateError holds. */
function familyOf(error: unknown, known = new Set<object>()): readonly object[] {
  if (typeof error !== 'object' || error === null || known.has(error)) return [...known];
  known.add(error);
  if ('cause' in error) familyOf(error.cause, known);
  if ('errors' in error && Array.isArray(error.errors)) for (const one of error.errors) familyOf(one, known);
  return [...known];
}

/** Without this, Node prints only the first bytes of a buffer. */
function inspectWhole(value: unknown): string {
  const usual = buffer.INSPECT_MAX_BYTES;
  buffer.INSPECT_MAX_BYTES = Number.POSITIVE_INFINITY;
  try {
    return inspect(value, ALL);
  } finally {
    buffer.INSPECT_MAX_BYTES = usual;
  }
}

/** Empty for values that JSON cannot represent; `inspectWhole` prints these. */
function asJson(value: unknown): string {
  return tryOrUndefined(() => JSON.stringify(value)) ?? '';
}

function logged(error: unknown): string {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  log.trace({ err: error, error }, 'as pino prints an error by default');
  if (error instanceof Error) log.trace(error);
  return lines.join('');
}

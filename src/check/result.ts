import { type Problem, RunError, SettingsError } from '../errors.ts';
import type { ProgressEvent } from '../service/connection.ts';

/** `fix` is what to do about a `warn` or a `fail`. */
export type CheckResult = {
  readonly name: string;
  readonly result: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly fix?: string;
};

/** How the person who waits for a check ends it, and learns what it does. */
export type Watch = {
  readonly stop: AbortSignal;
  readonly say: (what: string, atOnce?: boolean) => void;
  readonly onEvent: (event: ProgressEvent) => void;
};

/** Reading a database of this size takes about half a second. */
export const LARGE_BYTES = 50_000_000;

export function ok(name: string, message: string): CheckResult {
  return { name, result: 'ok', message };
}

export function warn(name: string, message: string, fix: string): CheckResult {
  return { name, result: 'warn', message, fix: withoutSelf(fix) };
}

export function fail(name: string, message: string, fix: string): CheckResult {
  return { name, result: 'fail', message, fix: withoutSelf(fix) };
}

/** A fix that names the command `check`, as other commands need it, is the rest of what `check` is printing. */
function withoutSelf(fix: string): string {
  return fix.replaceAll(/(^|[.] )?league-sync check\b/g, (_, start?: string) =>
    start === undefined ? 'the rest of this check' : `${start}The rest of this check`,
  );
}

export function skipped(names: string, fix = 'fix what the lines above report, and check again'): CheckResult {
  return warn('skipped', `not checked: ${names}`, fix);
}

/** Uses `fix` if the error itself has no fix. Rethrows an unexpected error. */
export function toProblem(error: unknown, fix: string): Problem {
  if (error instanceof SettingsError && error.problems[0] !== undefined) return error.problems[0];
  if (!(error instanceof RunError) || error.kind === 'internal') throw error;
  return { message: error.what.replace(/\.$/, ''), fix: error.fix ?? fix };
}

export function failure(name: string, error: unknown, fix: string): CheckResult {
  const problem = toProblem(error, fix);
  return fail(name, problem.message, problem.fix);
}

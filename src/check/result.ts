import { type Fault, RunError, SettingsError } from '../errors.ts';

/** What was found of one thing; `fix` says what to do unless it is `ok`. */
export type CheckResult = {
  readonly name: string;
  readonly result: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly fix?: string;
};

/** All is well with it. */
export function ok(name: string, message: string): CheckResult {
  return { name, result: 'ok', message };
}

/** It works, and yet somebody should know. */
export function warn(name: string, message: string, fix: string): CheckResult {
  return { name, result: 'warn', message, fix };
}

/** The worker could not do its work with it. */
export function fail(name: string, message: string, fix: string): CheckResult {
  return { name, result: 'fail', message, fix };
}

/** The same for an error, with a fix in case it names none. An error that is not foreseen is thrown on. */
export function failed(name: string, error: unknown, fix: string): CheckResult {
  return { name, result: 'fail', ...explain(error, fix) };
}

/** Nothing was found out about these, since something before them failed. */
export function skipped(names: readonly string[], fix = 'do what the lines above say, and check again'): CheckResult {
  return warn('skipped', `not looked at: ${names.join(', ')}`, fix);
}

/** What an error says, with a fix in case it names none. An error that is not foreseen is thrown on. */
export function explain(error: unknown, fix: string): Fault {
  if (error instanceof SettingsError && error.faults[0] !== undefined) return error.faults[0];
  if (!(error instanceof RunError) || error.kind === 'internal') throw error;
  return { message: error.what.replace(/\.$/, ''), fix: error.fix ?? fix };
}

export function hasFailed(results: readonly CheckResult[]): boolean {
  return results.some(({ result }) => result === 'fail');
}

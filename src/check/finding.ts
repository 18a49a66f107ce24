import { type Fault, RunError, SettingsError } from '../errors.ts';

/** What was found of one thing; `fix` says what to do if it is not `ok`. */
export type Finding = {
  readonly name: string;
  readonly result: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly fix?: string;
};

/** All is well with it. */
export function ok(name: string, message: string): Finding {
  return { name, result: 'ok', message };
}

/** It works, and yet somebody should know. */
export function warn(name: string, fault: Fault): Finding {
  return { name, result: 'warn', ...fault };
}

/** The worker could not do its work with it. */
export function fail(name: string, fault: Fault): Finding {
  return { name, result: 'fail', ...fault };
}

/** Nothing was found out about these, since something before them failed. */
export function skipped(names: readonly string[], fix = 'do what the lines above say, and check again'): Finding {
  return warn('skipped', { message: `not looked at: ${names.join(', ')}`, fix });
}

/** What an error says, with a fix for where it names none. Whatever nobody foresaw is thrown on. */
export function explain(error: unknown, fix: string): Fault {
  if (error instanceof SettingsError && error.faults[0] !== undefined) return error.faults[0];
  if (!(error instanceof RunError) || error.kind === 'internal') throw error;
  return { message: error.what.replace(/\.$/, ''), fix: error.fix ?? fix };
}

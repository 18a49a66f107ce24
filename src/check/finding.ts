import { RunError, SettingsError } from '../errors.ts';

/** What was found of one thing; `mend` says what to do wherever it is not `ok`. */
export type Finding = {
  readonly name: string;
  readonly result: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly mend?: string;
};

/** What is wrong, and what to do about it. */
export type Fault = { readonly message: string; readonly mend: string };

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
export function skipped(names: readonly string[]): Finding {
  return warn('skipped', {
    message: `not looked at: ${names.join(', ')}`,
    mend: 'do first what the lines above say, and check again',
  });
}

/** What an error says, in the two parts of a fault. Whatever nobody foresaw is thrown on. */
export function explain(error: unknown, mend: string): Fault {
  if (error instanceof SettingsError) return splitMend(error.faults.join(', '), mend);
  if (!(error instanceof RunError) || error.kind === 'internal') throw error;
  return splitMend(error.message, mend);
}

/** What the service says is quoted behind the program's own words. */
const QUOTED = / It (?:says: "|asks not to be called ).*$/s;
const CODE = / \([A-Z][A-Z\d_]+\)$/;

/**
 * The program's messages say what failed and, behind a semicolon, the mend. A message without one, or with a mere
 * question there, is mended by what is given.
 */
export function splitMend(text: string, mend: string): Fault {
  const [quoted = ''] = QUOTED.exec(text) ?? [];
  const own = text.slice(0, text.length - quoted.length).replace(/\.$/, '');
  const [code = ''] = CODE.exec(own) ?? [];
  const words = own.slice(0, own.length - code.length);
  const end = words.lastIndexOf('; ');
  if (end < 0 || words.endsWith('?')) return { message: `${own}${quoted && '.'}${quoted}`, mend };
  return { message: `${words.slice(0, end)}${code}${quoted && '.'}${quoted}`, mend: words.slice(end + 2) };
}

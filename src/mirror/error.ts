import { labelOf, type MirrorTarget } from '../config/mirror.ts';
import { codeOf, RunError } from '../errors.ts';
import { redact } from '../redact.ts';

/** Why the server cannot be used, in its own words, but without details, which may quote values, and the password. */
export function toMirrorError(error: unknown, target: MirrorTarget): unknown {
  if (error instanceof RunError || !(error instanceof Error)) return error;
  const what = redact(describe(error), [target.server.password ?? '']);
  const fix = fixOf(codeOf(error), target);
  return new RunError('network', true, `The mirror at ${labelOf(target)} cannot be used: ${what}.`, {
    cause: error,
    fix,
  });
}

/** A server may send megabytes; what it says is stored and shown. */
const LONGEST_TEXT = 500;

const LIMITS: Readonly<Record<string, string>> = {
  'timeout expired': 'no connection within 10 s',
  'Query read timeout': 'no answer within 65 s',
};

function describe(error: Error): string {
  const code = codeOf(error);
  const text = LIMITS[error.message] ?? error.message.slice(0, LONGEST_TEXT);
  // A refused connection to a name with several addresses has no message of its own.
  if (text === '') return code || error.name;
  return code === '' || text.includes(code) ? text : `${text} (${code})`;
}

function fixOf(code: string, { schema }: MirrorTarget): string | undefined {
  if (code === '23505') return 'another program wrote to it: rebuild it with league-sync mirror rebuild';
  if (code !== '42501') return undefined;
  return `have the owner of the schema, or a superuser, grant what is missing: GRANT USAGE, CREATE ON SCHEMA ${nameOf(schema)} TO the role; tables that another role made must be given to this one (ALTER TABLE … OWNER TO)`;
}

/** A name for a sentence: in quotes only if SQL needs them. */
export function nameOf(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : quoteIdentifier(name);
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

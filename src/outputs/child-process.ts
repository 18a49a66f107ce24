import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Environment } from '../config/read-environment.ts';
import { codeOf, DatabaseError, type ErrorKind, RefusedError, RunError, SettingsError } from '../errors.ts';
import { formatDuration } from '../time/duration.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';

/** How this program is started anew. */
export type Program = {
  /** The command that starts it: executable, Node options and script. */
  readonly program: readonly string[];
  readonly environment: Environment;
  readonly pid: number;
};

/** A line of a child's stdout. One without members only says that the child's event loop turns. */
export type ChildMessage = {
  readonly progress?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly kind: ErrorKind | 'settings' | 'refused'; readonly what: string; readonly fix?: string };
};

/** How a child ended that did not answer. `crashed`: it had begun to work; `killed`: not by us. */
export type ChildEnd = {
  readonly how: 'failed' | 'crashed' | 'killed' | 'silent';
  readonly why: string;
  readonly cause?: unknown;
};

/** What to do about a child that failed before it began to work. */
export const RESTART = "restart league-sync if the program's files were replaced or removed while it ran";

type ChildOptions = {
  /** Makes the error. */
  readonly explain: (end: ChildEnd) => RunError;
  readonly environment: Environment;
  /** What the child reads from its stdin, as JSON. */
  readonly input?: unknown;
  /** Kills the child. */
  readonly signal: AbortSignal;
  /** Kills a child that says nothing for so long (ms): it hangs. */
  readonly maxSilenceMs?: number;
  readonly onProgress?: (progress: unknown) => void;
};

/** Runs a command in a process. Rejects with its RunError or SettingsError, with that of `explain`, or like `signal`. */
export async function runChild([executable = '', ...args]: readonly string[], options: ChildOptions): Promise<unknown> {
  const { explain, environment, input = null, signal, maxSilenceMs = 0, onProgress } = options;
  // The child needs no settings in its environment, least of all secrets.
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('LEAGUE_SYNC_')));
  signal.throwIfAborted();
  // Detached, so that Ctrl-C does not reach the child.
  const child = spawn(executable, args, { env, stdio: 'pipe', detached: true });
  const kill = (): unknown => child.kill('SIGKILL');
  let isSilent = false;
  const hush = (): void => {
    isSilent = true;
    kill();
  };
  const silence = maxSilenceMs === 0 ? undefined : setTimeout(hush, maxSilenceMs);
  let last: ChildMessage | undefined;
  const read = (line: string): void => {
    silence?.refresh();
    // The last line of a child that was killed may be cut, and another program may be where this one was.
    const message: ChildMessage | undefined = tryOrUndefined(() => JSON.parse(line)) ?? undefined;
    if (message?.progress !== undefined) onProgress?.(message.progress);
    if (message !== undefined) last = { ...last, ...message };
  };
  signal.addEventListener('abort', kill, { once: true });
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(input));
  createInterface({ input: child.stdout }).on('line', read);
  try {
    const ended = Promise.all([text(child.stderr), once(child, 'close')]);
    const [stderr, [code]] = await ended.catch((cause: unknown) => {
      signal.throwIfAborted();
      throw explain({ how: 'failed', why: codeOf(cause), cause });
    });
    signal.throwIfAborted();
    if (isSilent) throw explain({ how: 'silent', why: `it did not respond for ${formatDuration(maxSilenceMs)}` });
    if (code === null) throw explain({ how: 'killed', why: 'it was killed' });
    if (last?.result !== undefined) return last.result;
    if (last?.error != null)
      throw last.error.kind === 'internal' ? explain({ how: 'failed', why: last.error.what }) : toError(last.error);
    const why = /^league-sync:? (.+)/m.exec(stderr)?.[1] ?? `exit code ${code}`;
    throw explain({ how: last === undefined ? 'failed' : 'crashed', why });
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', kill);
  }
}

function toError({ kind, what, fix }: NonNullable<ChildMessage['error']>): Error {
  if (kind === 'settings') return new SettingsError([{ message: what, fix: fix ?? '' }]);
  if (kind === 'refused') return new RefusedError(what, { fix });
  return kind === 'database' ? new DatabaseError(what, { fix }) : new RunError(kind, false, what, { fix });
}

/** Exit codes, as published in docs/messages.md. */
export const EXIT = {
  done: 0,
  failed: 1,
  held: 3,
  usage: 64,
  database: 74,
  notNow: 75,
  credentials: 77,
  settings: 78,
} as const;

/** The kinds of failure; also the values of `runs.error_kind`. */
export const ERROR_KINDS = ['network', 'timeout', 'status', 'contract', 'credentials', 'database', 'internal'] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** What is wrong and how to fix it; neither ends with a full stop. */
export type Problem = { readonly message: string; readonly fix: string };

/** A warning or an error to print. If `fix` is undefined, the message may include the fix. */
export type Notice = { readonly message: string; readonly fix?: string };

export function formatProblem({ message, fix }: Notice): string {
  return fix === undefined ? message : `${message} -> ${fix}`;
}

type RunErrorDetails = {
  readonly cause?: unknown;
  /** What to do, as part of a sentence. */
  readonly fix?: string | undefined;
  /** The service's message and `Retry-After`, as sentences to append to the error message. */
  readonly quoted?: string;
  readonly httpStatus?: number | undefined;
  /** The `message` of the response body, with secrets redacted. */
  readonly serviceMessage?: string | undefined;
  /** Timestamp (ms) until which nothing may be sent to the service (`Retry-After`). */
  readonly notBefore?: number | undefined;
};

/** Why a run or a login failed. Messages contain no secrets; of a response body, they quote only its `message`. */
export class RunError extends Error {
  override name = this.constructor.name;
  readonly kind: ErrorKind;
  /** The message without the fix. */
  readonly what: string;
  readonly fix: string | undefined;
  readonly retryable: boolean;
  readonly httpStatus: number | undefined;
  readonly serviceMessage: string | undefined;
  readonly notBefore: number | undefined;

  /** `what` is a sentence, with its full stop. */
  constructor(kind: ErrorKind, retryable: boolean, what: string, details: RunErrorDetails = {}) {
    const { cause, fix, quoted = '' } = details;
    const message = fix === undefined ? what : `${what.replace(/\.$/, '')}; ${fix}.`;
    super(message + quoted, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.what = what + quoted;
    this.fix = fix;
    this.retryable = retryable;
    this.httpStatus = details.httpStatus;
    this.serviceMessage = details.serviceMessage;
    this.notBefore = details.notBefore;
  }
}

/** No complete response arrived, because of the network or a time limit. */
export class TransportError extends RunError {
  /** The error code of Node or undici; empty if the time limit of the attempt ended the request. */
  get code(): string {
    return codeOf(this.cause);
  }
}

/** The response says that the request failed. */
export class StatusError extends RunError {
  constructor(retryable: boolean, message: string, details?: RunErrorDetails) {
    super('status', retryable, message, details);
  }
}

/** Nothing was sent because a `Retry-After` has not ended. */
export class RetryAfterError extends StatusError {}

/** The response violates the interface. */
export class ContractError extends RunError {
  constructor(message: string, details?: RunErrorDetails) {
    super('contract', false, message, details);
  }
}

/** The service rejects the credentials or every token that it issues for them, or the credentials cannot be read. */
export class CredentialsError extends RunError {
  constructor(message: string, details?: RunErrorDetails) {
    super('credentials', false, message, details);
  }
}

/** A problem with the database or a copy of it, including their folders and disks. */
export class DatabaseError extends RunError {
  /** True if another program holds a lock, so that retrying helps. */
  readonly busy: boolean;
  /** True if an open file was deleted or replaced. The files now at the path must be neither read nor written. */
  readonly gone: boolean;
  /** The end of a sentence that begins with "The database", such as `is gone`. */
  readonly condition: string | undefined;

  constructor(
    message: string,
    details: RunErrorDetails & { readonly busy?: boolean; readonly gone?: boolean; readonly condition?: string } = {},
  ) {
    super('database', false, message, details);
    this.busy = details.busy ?? false;
    this.gone = details.gone ?? false;
    this.condition = details.condition;
  }
}

/** What would be written to, such as the mirror, is not this database's; a person must decide. */
export class RefusedError extends DatabaseError {}

/** A signal killed the process that did it. */
export class KilledError extends RunError {}

/** The abort reason of a stop; not a failure. */
export class StoppedError extends Error {
  override name = 'StoppedError';
  /** What the command that was stopped has written, as a part of a sentence. */
  readonly written: string;
  constructor(written = 'nothing was written') {
    super('The worker was stopped before this was finished.');
    this.written = written;
  }
}

/** Carries every problem of the settings, not only the first. */
export class SettingsError extends Error {
  override name = 'SettingsError';
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Instructions for a first start, shown after the problems and their fixes. */
  readonly advice: string | undefined;

  constructor(problems: readonly Problem[], warnings: readonly Problem[] = [], advice?: string) {
    super([...problems, ...warnings].map(formatProblem).join('; '));
    this.problems = problems;
    this.warnings = warnings;
    this.advice = advice;
  }
}

/** The address of LEAGUE_SYNC_LISTEN may become free, or come to this machine, so a later start may succeed. */
export class AddressError extends SettingsError {
  override name = 'AddressError';
}

export class UsageError extends Error {
  override name = 'UsageError';
}

export class LockedError extends Error {
  override name = 'LockedError';
}

/** The `code` of an error of Node or a library; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code ?? '') : '';
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof LockedError || error instanceof AddressError) return EXIT.notNow;
  if (error instanceof SettingsError) return EXIT.settings;
  const { kind } = error instanceof RunError ? error : {};
  return kind === 'database' || kind === 'credentials' ? EXIT[kind] : EXIT.failed;
}

/** Messages of libraries may quote what they were given. */
const MAX_UNEXPECTED_LENGTH = 300;

/** A SettingsError means that a file with a secret has become unreadable since the start. */
export function toRunError(error: unknown): RunError {
  if (error instanceof RunError) return error;
  const [problem] = error instanceof SettingsError ? error.problems : [];
  if (problem !== undefined) return new RunError('network', true, `${problem.message}.`, { fix: problem.fix });
  const what = error instanceof Error ? `${error.name}: ${error.message}` : 'an unknown error';
  return new RunError('internal', false, `Unexpected internal error (${what.slice(0, MAX_UNEXPECTED_LENGTH)}).`, {
    cause: error,
  });
}

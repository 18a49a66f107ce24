/** Exit codes of the program, as published in the README. */
export const EXIT = {
  done: 0,
  failed: 1,
  held: 3,
  usage: 64,
  database: 74,
  locked: 75,
  credentials: 77,
  settings: 78,
} as const;

/** All kinds of failure, sorted by who has to act. */
export const ERROR_KINDS = ['network', 'timeout', 'status', 'contract', 'credentials', 'database', 'internal'] as const;

/** What a failed run is filed under in `runs.error_kind`. */
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** What is wrong, and what to do about it; neither ends with a full stop. */
export type Fault = { readonly message: string; readonly fix: string };

/** What somebody is to know; the fix stands in the message where there is none. */
export type Notice = Pick<Fault, 'message'> & { readonly fix?: string };

/** A fault in one line. What stands behind the arrow is the fix. */
export function formatFault({ message, fix }: Fault): string {
  return `${message} -> ${fix}`;
}

type RunErrorDetails = {
  readonly cause?: unknown;
  /** What to do about it, as part of a sentence. */
  readonly fix?: string | undefined;
  /** The service's own words and wishes, as sentences for the end of the message. */
  readonly quoted?: string;
  /** Status code of the answer that failed the run, where there was one. */
  readonly httpStatus?: number | undefined;
  /** The service's own `message`, with every secret taken out. */
  readonly serviceMessage?: string | undefined;
  /** Instant (ms) before which nothing may be sent to the service (`Retry-After`). */
  readonly notBefore?: number | undefined;
};

/**
 * Why a run or a login failed. Subclasses are sorted by who has to act. Messages say what failed, then the
 * particulars, then the fix, then what the service says; they never hold a secret or a response body.
 */
export class RunError extends Error {
  override name = 'RunError';
  readonly kind: ErrorKind;
  /** The message without the fix. */
  readonly what: string;
  readonly fix: string | undefined;
  /** Whether another attempt can help. */
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

/** The network or the service's machine: nothing came back, or not all of it. */
export class TransportError extends RunError {
  override name = 'TransportError';

  constructor(kind: 'network' | 'timeout', retryable: boolean, message: string, details?: RunErrorDetails) {
    super(kind, retryable, message, details);
  }

  /** What Node or undici calls it; empty if the time was up. */
  get code(): string {
    return codeOf(this.cause);
  }
}

/** The service answered, and its answer is a failure. */
export class StatusError extends RunError {
  override name = 'StatusError';

  constructor(retryable: boolean, message: string, details?: RunErrorDetails) {
    super('status', retryable, message, details);
  }
}

/** The service asked for a pause that is not over, so nothing was sent. */
export class RetryAfterError extends StatusError {
  override name = 'RetryAfterError';

  constructor(message: string, notBefore: number) {
    super(true, message, { notBefore });
  }
}

/** The service answered with something that the interface does not allow for. */
export class ContractError extends RunError {
  override name = 'ContractError';

  constructor(message: string, details?: RunErrorDetails) {
    super('contract', false, message, details);
  }
}

/** The service refuses the credentials, or every token that it gives for them. */
export class CredentialsError extends RunError {
  override name = 'CredentialsError';

  constructor(message: string, details?: RunErrorDetails) {
    super('credentials', false, message, details);
  }
}

type DatabaseErrorDetails = RunErrorDetails & {
  readonly busy?: boolean;
  readonly gone?: boolean;
  readonly condition?: string | undefined;
};

/** The database file, its folder or its disk. */
export class DatabaseError extends RunError {
  override name = 'DatabaseError';
  /** Another program is in the way: it passes by itself. */
  readonly busy: boolean;
  /** The files are not those that were opened: what is at their path now must be neither read nor written. */
  readonly gone: boolean;
  /** The end of a sentence that begins with "The database", such as `is gone`; undefined if only the message says it. */
  readonly condition: string | undefined;

  constructor(message: string, details?: DatabaseErrorDetails) {
    super('database', false, message, details);
    this.busy = details?.busy ?? false;
    this.gone = details?.gone ?? false;
    this.condition = details?.condition;
  }
}

/** The process that copied the database was ended by somebody else. */
export class CutShortError extends DatabaseError {
  override name = 'CutShortError';
}

/** Not a failure: the operator stopped the worker while this was going on. */
export class StoppedError extends Error {
  override name = 'StoppedError';
  constructor() {
    super('The worker was stopped while this was going on.');
  }
}

/** Settings that cannot be used; `faults` names every one of them, `warnings` what is odd besides. */
export class SettingsError extends Error {
  override name = 'SettingsError';
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
  /** What to do about all of them together. */
  readonly advice: string | undefined;

  constructor(faults: readonly Fault[], warnings: readonly Fault[] = [], advice?: string) {
    super([...faults, ...warnings].map(formatFault).join('; '));
    this.faults = faults;
    this.warnings = warnings;
    this.advice = advice;
  }
}

/** Wrong usage of a command. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Another worker holds this database. */
export class LockedError extends Error {
  override name = 'LockedError';
}

/** The code that Node or a library gave to what was thrown; empty where there is none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code ?? '') : '';
}

/** The exit code that says to a script or an init system what kind of failure ended the program. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof SettingsError) return EXIT.settings;
  if (error instanceof LockedError) return EXIT.locked;
  if (error instanceof DatabaseError) return EXIT.database;
  if (error instanceof CredentialsError) return EXIT.credentials;
  return EXIT.failed;
}

/** Turns whatever was thrown into the error that a run is filed under; what nobody foresaw is `internal`. */
export function toRunError(error: unknown): RunError {
  if (error instanceof RunError) return error;
  const what = error instanceof Error ? `${error.name}: ${error.message}` : 'an unknown error';
  return new RunError('internal', false, `The program failed in a way it does not know (${what}).`, { cause: error });
}

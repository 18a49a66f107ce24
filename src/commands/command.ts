import type { LogConfig } from '../config/config.ts';
import type { Environment, Settings } from '../config/read-environment.ts';
import type { Notice } from '../errors.ts';
import type { Log } from '../log.ts';
import type { AdvisedDatabase } from '../terminal/advice.ts';
import type { Terminal } from '../terminal/style.ts';

/** The process as a command sees it. Only `cli.ts` uses Node's `process`. */
export type ProcessIO = {
  readonly pid: number;
  readonly nodeVersion: string;
  readonly parent: () => number;
  /** The command line that starts this program, without its arguments: executable, Node options, script. */
  readonly program: readonly string[];
  readonly environment: Environment;
  /** Settings from the environment and `.env`; the environment wins. Throws a SettingsError if `.env` is unreadable. */
  readonly settings: () => Settings;
  /** Prints a line to stdout as it is, and resolves when it is written, so that a slow reader slows the command down. */
  readonly print: (text: string) => Promise<void>;
  /** Prints a text as a paragraph that fits the terminal, with its control characters escaped, its commands as typed. */
  readonly say: (text: string) => Promise<void>;
  readonly printError: (text: string) => void;
  readonly warn: (warning: Notice) => void;
  /**
   * Writes one line over the last one on stderr; an empty text removes it. Other output takes its place.
   * Undefined if stderr is not a terminal that can do this.
   */
  readonly showProgress: ((text: string) => void) | undefined;
  /** What stdout is. */
  readonly terminal: Terminal;
  /** What stderr is. */
  readonly errorTerminal: Terminal;
  readonly readInput: () => Promise<string>;
  /** Resolves with the line that the user typed. `ask` is undefined if stdin or stdout is not a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** `fd` is 1 (stdout) for `run`, `demo` and `simulate`, and 2 (stderr) for commands that print a result. */
  readonly openLog: (config: LogConfig, fd: 1 | 2) => Promise<Log>;
  /** Writes what the logs have buffered. Call it before the last line on stderr, after which nothing may be logged. */
  readonly closeLogs: () => Promise<void>;
  /** From now on, printed text that advises commands is about this database. */
  readonly adviseOn: (database: AdvisedDatabase) => void;
  /** A text in parts, of which every second one is a command, as it must be typed for this database. */
  readonly splitCommands: (text: string, database: AdvisedDatabase) => readonly string[];
  /** Aborts with a StoppedError on SIGTERM, SIGINT, or a SIGHUP that ends the command. */
  readonly stop: AbortSignal;
  /** Called on SIGHUP, unless the terminal that the program was started at is gone. */
  readonly onHangup: (callback: () => void) => void;
};

/**
 * On SIGTERM or SIGINT, `daemon` and `follow` exit with 0, `oneShot` exits with 128 + the signal number, `readOnly` is
 * killed. SIGHUP ends all but a `daemon` whose terminal, if it has one, is still there. `readOnly` and `follow` also end
 * when the reader of stdout has gone.
 */
export type Mode = 'daemon' | 'follow' | 'oneShot' | 'readOnly';

/** Resolves with the exit code, or rejects with an error that `exitCodeOf` maps to an exit code. */
export type Command<Options> = (io: ProcessIO, options: Options) => Promise<number>;

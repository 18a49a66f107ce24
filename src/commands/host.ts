import type { LogConfig } from '../config/config.ts';
import type { Environment, Settings } from '../config/environment.ts';
import type { Notice } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Terminal } from '../terminal/style.ts';

/** The process as a command sees it. Only `cli.ts` knows the real one. */
export type Host = {
  readonly pid: number;
  /** The process that started this one. */
  readonly parent: () => number;
  /** How this program is started: the executable and what comes before its own arguments. */
  readonly program: readonly string[];
  readonly environment: Environment;
  /** The settings in force: the environment over `.env`. Throws a SettingsError where `.env` cannot be read. */
  readonly settings: () => Settings;
  /** Writes a line of the result to stdout; settles when a slow reader has room for more. */
  readonly print: (text: string) => Promise<void>;
  /** Warns on stderr. */
  readonly warn: (warning: Notice) => void;
  /** The terminal that stdout is, and undefined where it is none. */
  readonly terminal: Terminal | undefined;
  /** All of stdin. */
  readonly readInput: () => Promise<string>;
  /** Whether there is a process of this number. */
  readonly isAlive: (pid: number) => boolean;
  /** Asks whoever sits at the terminal, and gives the line that was typed. Undefined where nobody does. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Opens the log: on stdout for `run` and `demo`, on stderr for the commands whose result is on stdout. */
  readonly openLog: (config: LogConfig, fd: 1 | 2) => Promise<Log>;
  /** Aborts with a StoppedError on SIGTERM or SIGINT. */
  readonly stop: AbortSignal;
  /** Calls back on SIGHUP. */
  readonly onHangup: (callback: () => void) => void;
};

/** A command gives its exit code, or throws an error that has one. */
export type Command<Options> = (host: Host, options: Options) => Promise<number>;

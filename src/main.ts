import { CommanderError } from 'commander';
import { createProgram, type Execute } from './command-line/options.ts';
import type { Mode, ProcessIO } from './commands/command.ts';
import { EXIT, exitCodeOf, RunError, SettingsError, StoppedError } from './errors.ts';
import { isPipe, type Terminal } from './terminal/style.ts';
import { formatNotice, formatSettingsError } from './terminal/text.ts';

/** Begins warnings and errors on stderr, except those of commander. */
export const LEAD = 'league-sync: ';

/** Runs a command line (`run` if empty); resolves with its exit code, never rejects. `begin` is called first. */
export async function main(args: readonly string[], io: ProcessIO, begin: (mode: Mode) => void): Promise<number> {
  let exitCode: number = EXIT.done;
  let mode: Mode | undefined;
  const execute: Execute = async (load, options, as) => {
    mode = as;
    begin(as);
    exitCode = await (await load())(io, options);
  };
  try {
    await createProgram(execute, io).parseAsync(args.length === 0 ? ['run'] : args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    await io.closeLogs();
    if (io.stop.aborted && error instanceof StoppedError) {
      if (mode === 'oneShot' && !isPipe(io.errorTerminal)) io.warn({ message: `stopped; ${error.written}` });
      return EXIT.done;
    }
    reportError(error, io, mode);
    return exitCodeOf(error);
  }
  return exitCode;
}

function reportError(error: unknown, io: ProcessIO, mode: Mode | undefined): void {
  const isExpected = exitCodeOf(error) !== EXIT.failed || (error instanceof RunError && error.kind !== 'internal');
  if (!(error instanceof Error)) io.printError(`${LEAD}failed for an unknown reason.`);
  else if (error instanceof SettingsError) io.printError(formatSettingsError(LEAD, error, io.errorTerminal));
  else if (!isExpected) io.printError(LEAD + (error.stack ?? error.message));
  else if (error instanceof RunError && !isPipe(io.errorTerminal)) {
    const fix = error.fix ?? (mode === 'oneShot' ? 'league-sync check' : undefined);
    io.warn({ message: error.what, ...(fix && { fix }) });
  } else io.warn({ message: error.message });
}

export function createWarn(printError: ProcessIO['printError'], terminal: Terminal): ProcessIO['warn'] {
  return (notice) => printError(formatNotice(LEAD, notice, terminal));
}

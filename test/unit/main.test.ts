import { expect, it } from 'vitest';
import type { ProcessIO } from '../../src/commands/command.ts';
import { SettingsError } from '../../src/errors.ts';
import { main } from '../../src/main.ts';
import { PLAIN } from '../../src/terminal/style.ts';

it('the line that says why a command failed follows all log lines', async () => {
  const written: string[] = [];
  const io: Partial<ProcessIO> = {
    settings: () => {
      throw new SettingsError([{ message: '.env is not a regular file', fix: 'remove it' }]);
    },
    closeLogs: async () => void written.push('log'),
    printError: () => void written.push('error'),
    errorTerminal: PLAIN,
    stop: new AbortController().signal,
  };
  // The command ends before it uses anything else of the process.
  expect(await main(['status'], io as ProcessIO, () => undefined)).toBe(78);
  expect(written).toEqual(['log', 'error']);
});

import { expect, it } from 'vitest';
import type { ProcessIO } from '../../src/commands/command.ts';
import { DatabaseError, SettingsError } from '../../src/errors.ts';
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

it.each([
  ['at a terminal stands on a line of its own', 80, { message: 'The disk is full.', fix: 'free some space' }],
  [
    'in a pipe ends the message',
    PLAIN.columns,
    { message: expect.stringMatching(/^The disk is full.*free some space/) },
  ],
] as const)('the fix of an error %s', async (_, columns, expected) => {
  const said: unknown[] = [];
  const io: Partial<ProcessIO> = {
    settings: () => {
      throw new DatabaseError('The disk is full.', { fix: 'free some space' });
    },
    closeLogs: async () => undefined,
    warn: (notice) => void said.push(notice),
    errorTerminal: { ...PLAIN, columns },
    stop: new AbortController().signal,
  };
  expect(await main(['status'], io as ProcessIO, () => undefined)).toBe(74);
  expect(said).toEqual([expected]);
});

import { expect, it } from 'vitest';
import type { ProcessIO } from '../../src/commands/command.ts';
import { DatabaseError, SettingsError } from '../../src/errors.ts';
import { main } from '../../src/main.ts';
import { PLAIN } from '../../src/terminal/style.ts';

/** A command that fails so, before it uses anything else of the process; resolves to its exit code. */
function failWith(error: Error, io: Partial<ProcessIO>): Promise<number> {
  const settings = (): never => {
    throw error;
  };
  const { signal: stop } = new AbortController();
  const all: Partial<ProcessIO> = { settings, stop, closeLogs: async () => undefined, errorTerminal: PLAIN, ...io };
  return main(['status'], all as ProcessIO, () => undefined);
}

it('the line that says why a command failed follows all log lines', async () => {
  const written: string[] = [];
  const io = { closeLogs: async () => void written.push('log'), printError: () => void written.push('error') };
  expect(await failWith(new SettingsError([{ message: '.env is not a regular file', fix: 'remove it' }]), io)).toBe(78);
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
  const io: Partial<ProcessIO> = { warn: (notice) => void said.push(notice), errorTerminal: { ...PLAIN, columns } };
  expect(await failWith(new DatabaseError('The disk is full.', { fix: 'free some space' }), io)).toBe(74);
  expect(said).toEqual([expected]);
});

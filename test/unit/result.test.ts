import { describe, expect, it } from 'vitest';
import { toProblem, warn } from '../../src/check/result.ts';
import { DatabaseError, SettingsError, StatusError } from '../../src/errors.ts';

const OTHER = 'do something';

describe('an error', () => {
  it.each([
    [new StatusError(true, 'Status 503.'), { message: 'Status 503', fix: OTHER }],
    [
      new DatabaseError('It is full (ENOSPC).', { fix: 'free some' }),
      { message: 'It is full (ENOSPC)', fix: 'free some' },
    ],
    [
      new StatusError(false, 'Refused.', { fix: 'check it', quoted: ' It says: "No; never".' }),
      { message: 'Refused. It says: "No; never"', fix: 'check it' },
    ],
    [new SettingsError([{ message: 'NAME: is odd', fix: 'set it' }]), { message: 'NAME: is odd', fix: 'set it' }],
  ])('that is expected (%s) becomes a message and a fix', (error, told) => {
    expect(toProblem(error, OTHER)).toEqual(told);
  });

  it('has both parts in its message, before what the service says', () => {
    const error = new StatusError(false, 'Refused.', { fix: 'check it', quoted: ' It says: "No".' });
    expect(error.message).toBe('Refused; check it. It says: "No".');
  });

  it.each([
    ['If one runs, league-sync check names the fix.', 'If one runs, the rest of this check names the fix.'],
    ['Restart it. league-sync check tests the login.', 'Restart it. The rest of this check tests the login.'],
    ['run league-sync sync', 'run league-sync sync'],
  ])('whose fix is to run check ("%s") says in check what it is part of', (fix, told) => {
    expect(warn('name', 'message', fix).fix).toBe(told);
  });

  it('that is unexpected is rethrown', () => {
    expect(() => toProblem(new TypeError('x is no function'), OTHER)).toThrow(TypeError);
  });
});

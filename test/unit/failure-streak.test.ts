import { expect, it } from 'vitest';
import { RunError } from '../../src/errors.ts';
import { createVoice } from '../../src/failure-streak.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestLog, wordsOf } from '../support/log-lines.ts';

const DOWN = new RunError('network', true, 'it is down');

it('a failure is a warning once, also as a cause, and again after a success that was not worth a line', () => {
  const { log, lines } = createTestLog();
  const voice = createVoice(log, createTestClock());
  voice.failed(DOWN, {}, 'it failed');
  voice.failed(DOWN, {}, 'it failed');
  voice.failed(new RunError('timeout', false, 'No time is left.', { cause: DOWN }), {}, 'it failed late');
  voice.worked({}, 'it', false);
  voice.failed(DOWN, {}, 'it failed');
  voice.forget();
  voice.failed(DOWN, {}, 'it failed');
  const repeats = ['info it failed', 'info it failed late'];
  expect(wordsOf(lines)).toEqual(['warn it failed', ...repeats, 'warn it failed', 'warn it failed']);
});

import { expect, it } from 'vitest';
import { RunError } from '../../src/errors.ts';
import { createVoice } from '../../src/failure-streak.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestLog, wordsOf } from '../support/log-lines.ts';

const DOWN = new RunError('network', true, 'it is down');

it('a failure after a success is a warning again, although the success was not worth a line', () => {
  const { log, lines } = createTestLog();
  const voice = createVoice(log, createTestClock());
  voice.failed(DOWN, {}, 'it failed');
  voice.failed(DOWN, {}, 'it failed');
  voice.worked({}, 'it', false);
  voice.failed(DOWN, {}, 'it failed');
  voice.forget();
  voice.failed(DOWN, {}, 'it failed');
  expect(wordsOf(lines)).toEqual(['warn it failed', 'info it failed', 'warn it failed', 'warn it failed']);
});

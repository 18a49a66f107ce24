import { expect, it } from 'vitest';
import { describeNews } from '../../src/commands/poll-result.ts';
import { createEvents, type WorkerEvent } from '../../src/events.ts';
import { NO_COUNTS } from '../../src/sync/report.ts';
import { createTestLog } from '../support/log-lines.ts';
import { makeReport } from '../support/run-report.ts';

it('every listener hears every event, in the order of subscription, also after one that fails', () => {
  const { log, lines } = createTestLog();
  const { emit, subscribe } = createEvents(log);
  const heard: string[] = [];
  subscribe(({ type }) => heard.push(`first ${type}`));
  subscribe(() => {
    throw new Error('a bug');
  });
  subscribe(({ type }) => heard.push(`last ${type}`));
  const event: WorkerEvent = { type: 'runStarted', kind: 'leagues' };
  emit(event);
  emit({ type: 'runEnded', report: makeReport() });
  expect(heard).toEqual(['first runStarted', 'last runStarted', 'first runEnded', 'last runEnded']);
  expect(lines).toMatchObject([
    { level: 'error', event: 'runStarted', msg: 'handling the event runStarted failed' },
    { level: 'error', event: 'runEnded' },
  ]);
});

it('a person reads what a poll found with separators', () => {
  const counts = { ...NO_COUNTS, received: 100_000, added: 100_000 };
  expect(describeNews(counts, 200, undefined)).toBe('100,000 added');
  expect(describeNews({ ...counts, added: 0, unchanged: 100_000 }, 200, undefined)).toBe('100,000 received, as before');
});

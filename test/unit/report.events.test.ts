import { expect, it } from 'vitest';
import { createEvents, type WorkerEvent } from '../../src/events.ts';
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

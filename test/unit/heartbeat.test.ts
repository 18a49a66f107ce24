import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { StatusError, TransportError } from '../../src/errors.ts';
import { createHeartbeat } from '../../src/observe/heartbeat.ts';
import type { RunReport } from '../../src/sync/report.ts';
import { createTestClock } from '../support/clock.ts';
import { createListener } from '../support/heartbeat.ts';
import { ended, makeReport } from '../support/run-report.ts';

const DOWN = new TransportError('network', true, 'ECONNREFUSED');
const SECOND = 1_000;

function reportOf(outcome: RunReport['outcome'], more: Partial<RunReport> = {}): RunReport {
  const error = outcome === 'failed' ? { error: new TransportError('network', true, 'no answer') } : {};
  return makeReport({ outcome, ...error, ...more });
}

function createStage() {
  const clock = createTestClock();
  const listener = createListener();
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) });
  const heartbeat = createHeartbeat({ ping: listener.ping, host: 'hc.example.com', clock, random: () => 1, log });
  /** Reports a run of the leagues from its start to this outcome. */
  const run = async (outcome: RunReport['outcome'], more?: Partial<RunReport>): Promise<void> => {
    heartbeat.onEvent({ type: 'runStarted', kind: 'leagues' });
    await setImmediate();
    heartbeat.onEvent(ended(reportOf(outcome, more)));
    await setImmediate();
  };
  return { clock, ...listener, lines, heartbeat, run };
}

describe('the heartbeat', () => {
  it('sends the start and the end of a run with the same id, and another id for each run', async () => {
    const { told, kinds, run } = createStage();
    await run('unchanged');
    await run('changed');
    expect(kinds()).toEqual(['start', 'success', 'start', 'success']);
    const ids = told.map(({ runId }) => runId);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect([ids[1], ids[3]]).toEqual([ids[0], ids[2]]);
    expect(new Set(ids).size).toBe(2);
  });

  it('counts held removals as a success', async () => {
    const { kinds, run } = createStage();
    await run('held');
    expect(kinds()).toEqual(['start', 'success']);
  });

  it('says why a run failed', async () => {
    const { told, run } = createStage();
    await run('failed');
    expect(told[1]).toMatchObject({ kind: 'fail', text: 'network: no answer' });
  });

  it('truncates a very long reason', async () => {
    const { told, run } = createStage();
    await run('failed', { error: new TransportError('network', true, 'ö'.repeat(20_000)) });
    expect(told[1]?.text).toMatch(/^network: ö+$/);
    expect(told[1]?.text).toHaveLength(10_000);
  });

  it('says nothing of a run that was interrupted, and nothing of the profile', async () => {
    const { kinds, run, heartbeat } = createStage();
    await run('interrupted');
    heartbeat.onEvent({ type: 'runStarted', kind: 'profile' });
    heartbeat.onEvent(ended(reportOf('failed', { kind: 'profile' })));
    await setImmediate();
    expect(kinds()).toEqual(['start']);
  });
});

describe('a heartbeat that fails', () => {
  it('is tried four times within half a minute, but the start only until the end is known', async () => {
    const { clock, kinds, run, answer } = createStage();
    answer(DOWN);
    await run('changed');
    expect(kinds()).toEqual(['start', 'success']);
    await clock.advance(60 * SECOND);
    expect(clock.slept).toEqual([4 * SECOND, 4 * SECOND, 8 * SECOND, 16 * SECOND]);
    expect(kinds()).toEqual(['start', 'success', 'success', 'success', 'success']);
  });

  it('is tried once if another attempt cannot help', async () => {
    const { clock, kinds, run, answer } = createStage();
    answer(new StatusError(false, 'status 404'));
    await run('changed');
    await clock.advance(60 * SECOND);
    expect(kinds()).toEqual(['start', 'success']);
  });

  it('is logged once, naming only the host, until it works again', async () => {
    const { clock, lines, run, answer } = createStage();
    answer(DOWN);
    for (let runs = 0; runs < 3; runs += 1) {
      await run('changed');
      await clock.advance(60 * SECOND);
    }
    expect(lines).toEqual(['the heartbeat to hc.example.com failed (ECONNREFUSED)']);
    answer('take');
    await run('changed');
    await run('changed');
    const end = 'the heartbeat to hc.example.com works again; recovered after 6 failed attempts in 3 min';
    expect(lines.slice(1)).toEqual([end]);
  });

  it('is superseded by the newest message, without those in between', async () => {
    const { told, kinds, run, answer, release } = createStage();
    answer('hang');
    for (let runs = 0; runs < 5; runs += 1) await run('changed');
    await run('failed');
    expect(kinds()).toEqual(['start']);
    answer('take');
    release();
    await setImmediate();
    expect(kinds()).toEqual(['start', 'fail']);
    expect(told[1]?.runId).not.toBe(told[0]?.runId);
  });
});

describe('a heartbeat that ends', () => {
  it('gives a message in progress one more second', async () => {
    const { clock, run, answer, release, kinds, heartbeat, lines } = createStage();
    answer('hang');
    await run('changed');
    const ended = heartbeat[Symbol.asyncDispose]();
    await clock.advance(0.9 * SECOND);
    answer('take');
    release();
    await ended;
    expect(kinds()).toEqual(['start', 'success']);
    expect(lines).toEqual([]);
  });

  it('aborts a hanging message without logging it', async () => {
    const { clock, run, answer, kinds, heartbeat, lines } = createStage();
    answer('hang');
    await run('changed');
    const ended = heartbeat[Symbol.asyncDispose]();
    await clock.advance(SECOND);
    await ended;
    expect(kinds()).toEqual(['start']);
    expect(lines).toEqual([]);
  });

  it('delays nothing between two attempts, nor for a run that has not ended', async () => {
    const { run, answer, heartbeat } = createStage();
    answer(DOWN);
    await run('changed');
    await heartbeat[Symbol.asyncDispose]();
    const idle = createStage();
    idle.heartbeat.onEvent({ type: 'runStarted', kind: 'leagues' });
    await idle.heartbeat[Symbol.asyncDispose]();
    expect(idle.kinds()).toEqual(['start']);
  });
});

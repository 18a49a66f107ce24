import { describe, expect, it } from 'vitest';
import { inStretches, type Stretches } from '../../src/stretches.ts';

/** Work that may pause after each of so many steps, and keeps the process busy in each. */
function* work(steps: number, msEach: number): Stretches<string> {
  for (let step = 0; step < steps; step += 1) {
    const until = performance.now() + msEach;
    while (performance.now() < until);
    yield;
  }
  return 'done';
}

describe('work in stretches', () => {
  it('gives what the work comes to', async () => {
    expect(await inStretches(work(3, 0))).toBe('done');
  });

  it('lets others have a turn before it is done', async () => {
    const order: string[] = [];
    const other = new Promise<void>((resolve) => {
      setImmediate(() => {
        order.push('other');
        resolve();
      });
    });
    await Promise.all([inStretches(work(5, 15)).then((end) => order.push(end)), other]);
    expect(order).toEqual(['other', 'done']);
  });

  it('ends with the reason of a signal that aborts in between', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    setImmediate(() => stop.abort(reason));
    await expect(inStretches(work(1_000, 15), stop.signal)).rejects.toBe(reason);
  });

  it('fails as the work does', async () => {
    const broken = function* (): Stretches<never> {
      yield;
      throw new TypeError('broken');
    };
    await expect(inStretches(broken())).rejects.toThrow(TypeError);
  });
});

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RunError } from '../../src/errors.ts';
import { runChild } from '../../src/outputs/child-process.ts';

const run = (script?: string, more: Partial<Parameters<typeof runChild>[1]> = {}): Promise<unknown> =>
  runChild(script === undefined ? ['/no/such/program'] : ['/bin/sh', '-c', script], {
    explain: ({ how, why }) => new RunError('internal', false, `${how}: ${why}`),
    environment: { LEAGUE_SYNC_PASSWORD: 'fake-password', PATH: process.env.PATH },
    signal: new AbortController().signal,
    ...more,
  });

describe('a child process', () => {
  it('answers with a result, the last line of its stdout', async () => {
    expect(await run(`echo '{}'; echo '{"progress":1}'; echo '{"result":{"seq":7}}'`)).toEqual({ seq: 7 });
  });

  it('is told no setting, least of all a secret', async () => {
    expect(await run(`printf '{"result":"%s"}\\n' "$LEAGUE_SYNC_PASSWORD"`)).toBe('');
  });

  it.each([
    ['failed: exit code 0', 'true'],
    ['failed: exit code 0', 'echo hello'],
    ['failed: exit code 0', 'echo null'],
    ['failed: exit code 0', `printf '{"result":{"se'`],
    ['failed: no space', 'echo "league-sync: no space" >&2; exit 3'],
    ['failed: ENOENT', undefined],
    ['crashed: exit code 1', `echo '{}'; exit 1`],
    ['failed: a bug', `echo '{"error":{"kind":"internal","what":"a bug"}}'`],
    ['killed: it was killed', 'kill -9 $$'],
  ])('that does not answer has %s', async (expected, script) => {
    await expect(run(script)).rejects.toThrow(expected);
  });

  it('that falls silent is killed', async () => {
    await expect(run('exec sleep 60', { maxSilenceMs: 50 })).rejects.toThrow('silent: it did not respond for 50 ms');
  });

  it('that says something now and then may take longer than it may be silent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const script = `for i in 1 2 3; do echo '{"progress":1}'; done; echo '{"result":7}'`;
    expect(await run(script, { maxSilenceMs: 50, onProgress: () => void vi.advanceTimersByTime(49) })).toBe(7);
  });
});

import { describe, expect, it } from 'vitest';
import { KilledError, RunError } from '../../src/errors.ts';
import { runChild } from '../../src/outputs/child-process.ts';

const run = (script: string, more: { readonly maxSilenceMs?: number } = {}): Promise<unknown> =>
  runChild(['/bin/sh', '-c', script], {
    task: 'does the work',
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
    ['text', 'echo hello'],
    ['null', 'echo null'],
    ['half a line', `printf '{"result":{"se'`],
    ['nothing', 'true'],
  ])('that says %s has failed, and no more', async (_, script) => {
    const error = await run(script).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RunError);
    expect(String(error)).toContain('The process that does the work failed (exit code 0)');
  });

  it('that is killed is told from one that fails', async () => {
    await expect(run('kill -9 $$')).rejects.toBeInstanceOf(KilledError);
    await expect(run('echo "league-sync: no space" >&2; exit 3')).rejects.toThrow('failed (no space)');
  });

  it('that falls silent is killed', async () => {
    await expect(run('exec sleep 60', { maxSilenceMs: 50 })).rejects.toThrow('it did not respond for');
  });
});

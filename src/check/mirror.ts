import { isLoopback } from '../config/host.ts';
import type { MirrorTarget } from '../config/mirror.ts';
import type { RunMirror } from '../mirror/process.ts';
import { plural } from '../terminal/text.ts';
import { type CheckResult, ok, toProblem, warn } from './result.ts';

/** Connection, TLS, rights and version of the server, and how far the mirror is. Polls do not depend on it. */
export async function checkMirror(
  path: string,
  target: MirrorTarget,
  run: RunMirror,
  signal: AbortSignal,
): Promise<CheckResult> {
  try {
    const { version, tls, filled } = await run('inspect', { path, target }, { signal });
    const about = `PostgreSQL ${version}, ${tls ?? 'no TLS'}`;
    const { host } = target.server;
    if (tls === undefined && !host.startsWith('/') && !isLoopback(host)) {
      const fix = 'add sslmode=verify-full to LEAGUE_SYNC_POSTGRES_URL, if the server has TLS';
      return warn('mirror', `${about}: the data travels unencrypted`, fix);
    }
    if (filled === undefined) return ok('mirror', `${about}; not filled yet: a worker fills it, or league-sync mirror`);
    const { seq, lag } = filled;
    if (lag === 0) return ok('mirror', `${about}; up to date with change ${seq}`);
    const fix = 'start the worker if none runs, or run league-sync mirror';
    return warn('mirror', `${about}; ${plural(lag, 'change')} behind`, fix);
  } catch (error) {
    const { message, fix } = toProblem(error, 'check LEAGUE_SYNC_POSTGRES_URL, the server and the network');
    return warn('mirror', `${message}; polls do not depend on it`, fix);
  }
}

import { makeLeague } from './leagues.ts';
import { grantLogin, listLeagues, type Reply, type Seen, startService } from './service.ts';

export type ExpiringServiceOptions = {
  readonly lifeMs: number;
  /** Rewrites `expire_datetime`, which ends in `Z` otherwise. */
  readonly spell?: (instant: string) => string;
  /** Options of the login responses besides the body. */
  readonly login?: Pick<Reply, 'headers' | 'dated'>;
};

export type ExpiringService = {
  readonly url: string;
  readonly logins: () => readonly Seen[];
  readonly polls: () => readonly Seen[];
  /** The requests with an expired token. */
  readonly late: () => readonly Seen[];
  /** Every true `expire_datetime`, oldest first. */
  readonly expiries: readonly string[];
};

const EXPIRY = /(?<="expire_datetime":")[^"]*/;

/** A service that accepts a token until its true expiry, and may send any `expire_datetime`. */
export async function startExpiringService(options: ExpiringServiceOptions): Promise<ExpiringService> {
  const { lifeMs, spell = (instant) => instant, login = {} } = options;
  const expiries: string[] = [];
  const grant = (): Reply => ({
    ...grantLogin(nameToken(performance.now() + lifeMs), lifeMs),
    ...login,
    spell: (text) =>
      text.replace(EXPIRY, (instant) => {
        expiries.push(instant);
        return spell(instant);
      }),
  });
  const service = await startService((seen) => {
    if (seen.endpoint === 'login') return grant();
    return isLate(seen) ? { status: 401, body: { result: 'fail' } } : listLeagues([makeLeague('a')]);
  });
  const at = (endpoint: Seen['endpoint']) => service.seen.filter((seen) => seen.endpoint === endpoint);
  return {
    url: service.url,
    logins: () => at('login'),
    polls: () => at('leagues'),
    late: () => at('leagues').filter(isLate),
    expiries,
  };
}

/** A token that contains its own expiry, on the monotonic clock. */
function nameToken(endsAt: number): string {
  return `until-${endsAt}`;
}

function isLate({ authorization, beganAt }: Seen): boolean {
  return beganAt >= Number(authorization.replace('Bearer until-', ''));
}

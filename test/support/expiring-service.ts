import { makeLeague } from './leagues.ts';
import { fail, grantLogin, listLeagues, type Seen, startService } from './service.ts';

export type ExpiringServiceOptions = {
  readonly lifeMs: number;
  /** Rewrites `expire_datetime`, which ends in `Z` otherwise. */
  readonly spell?: (instant: string) => string;
  /** Headers of the responses to logins, and whether there is a `Date` among them, as there should be. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly dated?: boolean;
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

/** A service that accepts a token until its true expiry, and may send any `expire_datetime`. */
export async function startExpiringService(options: ExpiringServiceOptions): Promise<ExpiringService> {
  const { lifeMs, spell = (instant) => instant, headers, dated = true } = options;
  const expiries: string[] = [];
  const { url, seen } = await startService({
    login: (response) => {
      response.sendDate = dated;
      const expiry = new Date(Date.now() + lifeMs).toISOString();
      expiries.push(expiry);
      return grantLogin(
        { access_token: nameToken(performance.now() + lifeMs), expire_datetime: spell(expiry) },
        headers,
      );
    },
    leagues: (_response, request) => (isLate(request) ? fail(401) : listLeagues([makeLeague('a')])),
  });
  const polls = () => seen('leagues');
  return { url, logins: () => seen('login'), polls, late: () => polls().filter(isLate), expiries };
}

/** A token that contains its own expiry, on the monotonic clock. */
function nameToken(endsAt: number): string {
  return `until-${endsAt}`;
}

function isLate({ authorization, beganAt }: Seen): boolean {
  return beganAt >= Number(authorization.replace('Bearer until-', ''));
}

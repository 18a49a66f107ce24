import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { DriftLog } from '../drift.ts';
import type { Client, TokenSource } from '../service/client.ts';
import type { LoginRecord } from '../service/login.ts';
import type { Pause } from '../service/pause.ts';
import type { Deadline } from '../service/retry.ts';
import type { Token } from '../service/token.ts';
import { wireService } from '../service/wiring.ts';

/** One look at the service: one attempt each, nothing is recorded, and no token outlives it. */
export type Visit = {
  /** Logs in and tells what would be recorded of it. Rejects with a RunError. */
  readonly logIn: () => Promise<{ readonly login: LoginRecord | undefined; readonly tookMs: number }>;
  /** What it offers to whoever has logged in by this visit. */
  readonly client: Client;
  /** Lets a request have one attempt. */
  readonly once: () => Deadline;
  readonly drift: DriftLog;
  readonly pause: Pause;
};

/** Builds it from the settings. Nothing is sent yet. */
export function createVisit(config: Config, signal: AbortSignal): Visit {
  let login: LoginRecord | undefined;
  let token: Token | undefined;
  const onLogin = (made: LoginRecord): void => {
    login = made;
  };
  const { logIn, clientOf, drift, pause, clock } = wireService(config, { onLogin });
  const once = (): Deadline => oneAttempt(clock, signal);
  return {
    logIn: async () => {
      token = await logIn('manual', once(), config.credentials);
      return { login, tookMs: token.tookMs };
    },
    client: clientOf(oneTokenSession(() => token)),
    once,
    drift,
    pause,
  };
}

/** Any wait would reach past this, so that nothing is tried again; the transport has its own limit for a request. */
function oneAttempt(clock: Clock, signal: AbortSignal): Deadline {
  return { at: clock.monotonic(), signal };
}

/** A token that is rejected is a fresh one here, and no better one is to be had. */
function oneTokenSession(token: () => Token | undefined): TokenSource {
  return {
    token: async () => {
      const given = token();
      if (given === undefined) throw new Error('something was asked for before the login');
      return given;
    },
    accept: () => undefined,
    replace: async () => undefined,
    giveUp: (_resource, _token, error) => error,
  };
}

import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { DriftLog } from '../drift.ts';
import { StoppedError } from '../errors.ts';
import type { Client } from '../service/client.ts';
import type { LoginReason } from '../service/login.ts';
import type { Pause } from '../service/pause.ts';
import { createSession, type Session } from '../service/session.ts';
import { type WiringOptions, wireService } from '../service/wiring.ts';

/** The side that talks to the service. */
export type ServiceSide = AsyncDisposable & {
  readonly client: Client;
  readonly session: Session;
  readonly pause: Pause;
  readonly drift: DriftLog;
  readonly scrub: (text: string) => string;
  readonly clock: Clock;
};

export type ServiceSideOptions = WiringOptions & { readonly firstReason: LoginReason; readonly signal: AbortSignal };

/** Builds the service side from the settings. Nothing is sent yet; disposing ends the login that is under way. */
export function openServiceSide(config: Config, options: ServiceSideOptions): ServiceSide {
  const { logIn, clientOf, pause, drift, scrub, clock, random } = wireService(config, options);
  const ending = new AbortController();
  const session = createSession({
    logIn,
    credentials: config.credentials,
    clock,
    random,
    leewayMs: config.loginLeewayMs,
    firstReason: options.firstReason,
    loginTimeoutMs: config.runTimeoutMs,
    signal: AbortSignal.any([options.signal, ending.signal]),
  });
  const end = async (): Promise<void> => {
    ending.abort(new StoppedError());
    await session.settled();
  };
  return { client: clientOf(session), session, pause, drift, scrub, clock, [Symbol.asyncDispose]: end };
}

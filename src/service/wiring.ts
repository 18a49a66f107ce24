import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { createDriftLog, type DriftLog } from '../drift.ts';
import { findPackage } from '../package.ts';
import { createSecrets } from '../redact.ts';
import { type Client, createClient, type TokenSource } from './client.ts';
import { createLogIn, type LogIn, type LoginFailure, type LoginRecord } from './login.ts';
import { createPause, type Pause, respectPause } from './pause.ts';
import { createTransport } from './transport.ts';

/** Everything that a session stands on, and the client that stands on a session. */
export type Wiring = {
  readonly logIn: LogIn;
  readonly clientOf: (session: TokenSource) => Client;
  readonly drift: DriftLog;
  /** Takes every secret out of words. */
  readonly scrub: (text: string) => string;
  readonly pause: Pause;
  readonly clock: Clock;
  readonly random: () => number;
};

export type WiringOptions = {
  /** Told of each login. */
  readonly onLogin: (login: LoginRecord) => void;
  /** Told once of each login that was given up after all its attempts. */
  readonly onLoginFailure?: ((failure: LoginFailure) => void) | undefined;
  /** How long (ms) the service still wants to be left alone, as far as earlier runs know. */
  readonly pauseLeftMs?: number | undefined;
  /** Told of the end (ms) of every pause that the service asks for. */
  readonly onPause?: ((until: number) => void) | undefined;
};

/** Wires the service from the settings. Nothing is sent yet. */
export function wireService(config: Config, options: WiringOptions): Wiring {
  const [clock, random] = [systemClock, Math.random];
  const [secrets, drift] = [createSecrets(), createDriftLog()];
  const pause = createPause(clock, options.pauseLeftMs, options.onPause);
  const userAgent = `league-sync/${findPackage().version}`;
  const transport = respectPause(createTransport({ ...config, userAgent }), pause, clock);
  const { onLogin: record, onLoginFailure: onFailure } = options;
  return {
    logIn: createLogIn({ transport, secrets, drift, clock, random, pause, record, onFailure }),
    clientOf: (session) => createClient({ transport, session, secrets, clock, random, pause }),
    drift,
    scrub: secrets.scrub,
    pause,
    clock,
    random,
  };
}

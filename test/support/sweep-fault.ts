import type { Socket } from 'node:net';
import type { ErrorKind } from '../../src/errors.ts';
import { type Answer, type Endpoint, render } from './sweep-response.ts';

/** Does something with a connection in place of the healthy answer; `hit` counts the requests that met the fault. */
export type Act = (socket: Socket, healthy: Answer, hit: number) => void;

/**
 * What becomes of a request that meets a fault, and with it of its run. `status` is the one that the run's row must
 * tell: null where no answer had begun.
 */
export type Fate = {
  /**
   * `harmless`: as if nothing were wrong. `passes`: tried again, four times in all. `fails`: the run ends at once.
   * `refused`: no login for a minute. `rejected`: one new login, and the request once more. `pauses`: the run ends,
   * and nothing is sent until the service allows it.
   */
  readonly is: 'harmless' | 'passes' | 'fails' | 'refused' | 'rejected' | 'pauses';
  readonly kind: ErrorKind;
  readonly status: number | null;
};

export type Fault = {
  /** Fits after "the login" and after "the request for the leagues". */
  readonly name: string;
  readonly fates: Readonly<Partial<Record<Endpoint, Fate>>>;
  readonly act?: Act;
  /** In place of reading the request. */
  readonly atAccept?: (socket: Socket) => void;
  /** Nothing listens. */
  readonly refuses?: true;
  /** The token is worth nothing any more. */
  readonly revokes?: boolean;
  /** The attempt's time is what ends it, so the test has to wait for it. */
  readonly hangs?: true;
  /** The least time between two tries, in ms. */
  readonly spacingMs?: number;
  /** How long nothing may be sent, in ms. */
  readonly pauseMs?: number;
  /** What the login's departures from the interface are, beside those of the list. */
  readonly drift?: readonly string[];
};

const HARMLESS: Fate = { is: 'harmless', kind: 'internal', status: 200 };
export const BROKEN: Fate = { is: 'passes', kind: 'network', status: null };
export const CUT: Fate = { ...BROKEN, status: 200 };
export const OVERTIME: Fate = { is: 'passes', kind: 'timeout', status: null };
export const STALLED: Fate = { ...OVERTIME, status: 200 };

/** The same fate wherever the fault is met. */
export function everywhere(fate: Fate): Fault['fates'] {
  return { login: fate, leagues: fate, profile: fate };
}

/** One fate for the login, another for the requests that carry a token. */
export function apart(login: Fate, data: Fate): Fault['fates'] {
  return { login, leagues: data, profile: data };
}

export const harmless = everywhere(HARMLESS);
export const harmlessLogin = { login: HARMLESS };

export function refused(status: number): Fate {
  return { is: 'refused', kind: 'credentials', status };
}

export function rejected(status: number): Fate {
  return { is: 'rejected', kind: 'credentials', status };
}

export function fails(kind: ErrorKind, status: number | null): Fate {
  return { is: 'fails', kind, status };
}

export function passes(status: number): Fate {
  return { is: 'passes', kind: 'status', status };
}

/** A whole answer, made out of the healthy one. */
export function answers(change: (healthy: Answer) => Partial<Answer>): Act {
  return (socket, healthy) => {
    socket.end(render({ ...healthy, ...change(healthy) }));
  };
}

/** Some bytes, and then the end of the service's side of the connection. */
export function bytes(make: (whole: Buffer, healthy: Answer) => string | Uint8Array): Act {
  return (socket, healthy) => {
    socket.end(make(render(healthy), healthy));
  };
}

/** Some bytes, and then a connection that stays open. */
export function stalls(make: (whole: Buffer) => string | Uint8Array): Act {
  return (socket, healthy) => {
    socket.write(make(render(healthy)));
  };
}

/** Some bytes, and then a reset. */
export function resets(make: (whole: Buffer) => string | Uint8Array): Act {
  return (socket, healthy) => {
    socket.write(make(render(healthy)), () => socket.resetAndDestroy());
  };
}

/** Where the body begins. */
export function bodyAt(whole: Buffer): number {
  return whole.indexOf('\r\n\r\n') + 4;
}

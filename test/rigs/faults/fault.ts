import type { Socket } from 'node:net';
import type { ErrorKind } from '../../../src/errors.ts';
import { type Answer, type Endpoint, render } from './response.ts';

/** Handles a connection instead of the healthy response; `hit` counts the requests that met the fault. */
export type SocketAction = (socket: Socket, healthy: Answer, hit: number) => void;

/**
 * The effect of a fault on the request that meets it, and on its run. `status` is the expected `http_status` of the
 * run: null if no response had begun.
 */
export type Effect = {
  /**
   * `harmless`: no effect. `passes`: retried, four attempts in all. `fails`: the run ends at once, and no login follows
   * for a minute if it was a login. `refused`: the same. `rejected`: one new login, and the request once more; then a
   * minute without requests if the kind is `credentials`. `pauses`: the run ends, and nothing is sent until the end of
   * the Retry-After.
   */
  readonly is: 'harmless' | 'passes' | 'fails' | 'refused' | 'rejected' | 'pauses';
  readonly kind: ErrorKind;
  readonly status: number | null;
};

export type Fault = {
  /** Completes "the login …" and "the request for the leagues …". */
  readonly name: string;
  readonly effects: Readonly<Partial<Record<Endpoint, Effect>>>;
  readonly act?: SocketAction;
  /** Replaces reading the request. */
  readonly atAccept?: (socket: Socket) => void;
  /** No server listens on the port. */
  readonly refuses?: true;
  /** Revokes the token. */
  readonly revokes?: boolean;
  /** Ends only by the attempt timeout, so the test has to wait for it. */
  readonly hangs?: true;
  /** The minimum time between two attempts, in ms. */
  readonly spacingMs?: number;
  /** How long no request may be sent, in ms. */
  readonly pauseMs?: number;
  /** The drift of the login, besides that of the list. */
  readonly drift?: readonly string[];
};

export const HARMLESS: Effect = { is: 'harmless', kind: 'internal', status: 200 };
export const BROKEN: Effect = { is: 'passes', kind: 'network', status: null };
export const CUT: Effect = { ...BROKEN, status: 200 };
export const OVERTIME: Effect = { is: 'passes', kind: 'timeout', status: null };
export const STALLED: Effect = { ...OVERTIME, status: 200 };
/** Neither a login response nor a list, with a status of success. */
export const NO_ANSWER: Effect = fails('contract', 200);

/** One effect on the login, another on requests with a token. */
export function apart(login: Effect, data: Effect): Fault['effects'] {
  return { login, leagues: data, profile: data };
}

/** The same effect on every endpoint. */
export function everywhere(effect: Effect): Fault['effects'] {
  return apart(effect, effect);
}

export function fails(kind: ErrorKind, status: number | null): Effect {
  return { is: 'fails', kind, status };
}

export function passes(status: number): Effect {
  return { is: 'passes', kind: 'status', status };
}

/** A fault of every endpoint that is a complete response, derived from the healthy one. */
export function answered(
  name: string,
  effects: Effect | Fault['effects'],
  change: (healthy: Answer) => Partial<Answer>,
  more: Partial<Fault> = {},
): Fault {
  return met(name, effects, (socket, healthy) => void socket.end(render({ ...healthy, ...change(healthy) })), more);
}

/** A fault of every endpoint that handles the connection itself. */
export function met(
  name: string,
  effects: Effect | Fault['effects'],
  act: SocketAction,
  more: Partial<Fault> = {},
): Fault {
  return { name, effects: 'is' in effects ? everywhere(effects) : effects, act, ...more };
}

/** Some bytes, and then the end of the service's side of the connection. */
export function bytes(make: (whole: Buffer) => string | Uint8Array): SocketAction {
  return (socket, healthy) => void socket.end(make(render(healthy)));
}

/** Some bytes, and then a connection that stays open. */
export function stalls(make: (whole: Buffer) => string | Uint8Array): SocketAction {
  return (socket, healthy) => void socket.write(make(render(healthy)));
}

/** Some bytes, and then a reset. */
export function resets(make: (whole: Buffer) => string | Uint8Array): SocketAction {
  return (socket, healthy) => void socket.write(make(render(healthy)), () => socket.resetAndDestroy());
}

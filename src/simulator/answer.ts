/** The operations of the interface (its section 4); `unknown` is every other path. */
export type Endpoint = 'login' | 'profile' | 'leagues' | 'unknown';

/** What the simulated service says to one request, and how it reaches the client. */
export type Answer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as an HTML page. */
  readonly body?: Readonly<Record<string, unknown>> | string;
  readonly delayMs?: number;
  /** How far the `Date` header runs ahead of the simulator's own clock. */
  readonly clockAheadMs?: number;
  /** `cut` sends half of the announced body and ends the connection, `hung-up` nothing; `never` leaves it open. */
  readonly delivery?: 'whole' | 'cut' | 'hung-up' | 'never';
};

/** A failed answer as the interface marks it (section 7): `result` is `fail`, beside a message for people. */
export function failure(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers, body: { result: 'fail', message } };
}

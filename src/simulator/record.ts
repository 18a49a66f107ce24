import type { BasicCheck } from './authorization.ts';
import type { TokenState } from './token.ts';

const KEPT_REQUESTS = 10_000;

/** One request as the simulated service saw it; never with a token or a password. */
export type SeenRequest = {
  /** Milliseconds since the epoch, by the simulator's clock. */
  readonly at: number;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** What was answered; undefined where the connection was cut, still hangs or was left by the client. */
  readonly status: number | undefined;
  readonly token: TokenState;
  /** Whether the Basic pair was right; undefined where the request is no login. */
  readonly basic: BasicCheck | undefined;
};

export type RequestRecord = {
  /** The newest 10,000, oldest first. A request is listed from its arrival, with its status once that is known. */
  readonly requests: readonly SeenRequest[];
  /** Lists a request and returns what to call, once or more, when its answer goes out or will not. */
  begin(arrived: Omit<SeenRequest, 'status'>): (status: number | undefined) => void;
};

/** Remembers requests; `onRequest` hears of each one once, as soon as its status is settled. */
export function createRequestRecord(onRequest: (seen: SeenRequest) => void): RequestRecord {
  const requests: SeenRequest[] = [];
  return {
    requests,
    begin(arrived) {
      const seen: Omit<SeenRequest, 'status'> & { status: number | undefined } = { ...arrived, status: undefined };
      let settled = false;
      requests.push(seen);
      if (requests.length > KEPT_REQUESTS) requests.shift();
      return (status) => {
        if (settled) return;
        settled = true;
        seen.status = status;
        onRequest(seen);
      };
    },
  };
}

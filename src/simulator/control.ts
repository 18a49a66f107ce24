import { type Answer, type BasicCheck, failure } from './endpoints.ts';
import { type FaultSwitches, faults } from './faults.ts';
import type { TokenState } from './tokens.ts';

const FAULT_PREFIX = '/_faults/';
const KEPT_REQUESTS = 10_000;

/** One request as the simulated service saw it; never with a token or a password. */
export type SeenRequest = {
  /** Milliseconds since the epoch, by the simulator's clock. */
  readonly at: number;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** What was answered; undefined if the connection was cut, still hangs or was left by the client. */
  readonly status: number | undefined;
  readonly token: TokenState;
  /** Whether the Basic pair was right; undefined if the request is no login. */
  readonly basic: BasicCheck | undefined;
};

export type RequestLog = ReturnType<typeof createRequestLog>;

/** Remembers the newest 10,000 requests; `onRequest` hears of each one once, as soon as its status is settled. */
export function createRequestLog(onRequest: (seen: SeenRequest) => void) {
  const requests: SeenRequest[] = [];
  return {
    /** Oldest first. */
    requests: requests as readonly SeenRequest[],
    /** Lists a request at its arrival, and returns what to call once when it is answered or will not be. */
    begin(arrived: Omit<SeenRequest, 'status'>): (status: number | undefined) => void {
      const seen = { ...arrived, status: undefined as number | undefined };
      requests.push(seen);
      if (requests.length > KEPT_REQUESTS) requests.shift();
      return (status) => {
        seen.status = status;
        onRequest(seen);
      };
    },
  };
}

export type Controls = {
  readonly switches: FaultSwitches;
  readonly log: RequestLog;
  /** Told of the faults that are on, after every switching over HTTP. */
  readonly onSwitched: (active: readonly string[]) => void;
};

/**
 * Answers the paths that steer the simulator itself: `GET` and `DELETE /_faults`, `PUT` and `DELETE /_faults/NAME`,
 * `GET /_requests`. Undefined for every other path.
 */
export function answerControl(method: string, path: string, controls: Controls): Answer | undefined {
  if (path === '/_requests') {
    return method === 'GET' ? { status: 200, body: { requests: controls.log.requests } } : notAllowed('GET');
  }
  if (path === '/_faults') return answerFaults(method, controls);
  if (path.startsWith(FAULT_PREFIX)) return switchFault(method, path.slice(FAULT_PREFIX.length), controls);
  return undefined;
}

function answerFaults(method: string, { switches, onSwitched }: Controls): Answer {
  if (method === 'GET') {
    const known = faults.map(({ name, description }) => ({ name, description }));
    return { status: 200, body: { active: switches.active(), known } };
  }
  if (method !== 'DELETE') return notAllowed('GET, DELETE');
  switches.clear();
  onSwitched(switches.active());
  return { status: 204 };
}

function switchFault(method: string, wanted: string, { switches, onSwitched }: Controls): Answer {
  if (method !== 'PUT' && method !== 'DELETE') return notAllowed('PUT, DELETE');
  if (!faults.some(({ name }) => name === wanted)) {
    return failure(404, `No fault is called ${wanted}; GET /_faults lists them`);
  }
  switches.set(wanted, method === 'PUT');
  onSwitched(switches.active());
  return { status: 204 };
}

function notAllowed(allowed: string): Answer {
  return failure(405, `Use ${allowed} here`, { Allow: allowed });
}

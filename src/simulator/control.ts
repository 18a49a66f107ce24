import { type Answer, failure } from './answer.ts';
import { faults } from './fault.ts';
import type { SeenRequest } from './record.ts';
import type { Switchboard } from './switchboard.ts';

const FAULT_PREFIX = '/_faults/';

export type Controls = {
  readonly switchboard: Switchboard;
  readonly requests: readonly SeenRequest[];
  /** Told of the faults that are on, after every switching. */
  readonly onSwitched: (active: readonly string[]) => void;
};

/**
 * Answers the paths that steer the simulator itself: `GET` and `DELETE /_faults`, `PUT` and `DELETE /_faults/NAME`,
 * `GET /_requests`. Undefined for every other path.
 */
export function answerControl(method: string, path: string, controls: Controls): Answer | undefined {
  if (path === '/_requests') return onlyFor(method, 'GET', () => ok({ requests: controls.requests }));
  if (path === '/_faults') return answerFaults(method, controls);
  if (path.startsWith(FAULT_PREFIX)) return switchFault(method, path.slice(FAULT_PREFIX.length), controls);
  return undefined;
}

function answerFaults(method: string, { switchboard, onSwitched }: Controls): Answer {
  if (method === 'GET') return ok(listFaults(switchboard));
  if (method !== 'DELETE') return notAllowed('GET, DELETE');
  switchboard.clear();
  onSwitched(switchboard.active());
  return { status: 204 };
}

function switchFault(method: string, name: string, { switchboard, onSwitched }: Controls): Answer {
  if (method !== 'PUT' && method !== 'DELETE') return notAllowed('PUT, DELETE');
  if (!switchboard.has(name)) return failure(404, `No fault is called ${name}; GET /_faults lists them`);
  switchboard.set(name, method === 'PUT');
  onSwitched(switchboard.active());
  return { status: 204 };
}

function listFaults(switchboard: Switchboard) {
  const known = faults.map(({ name, description }) => ({ name, description }));
  return { active: switchboard.active(), known };
}

function onlyFor(method: string, allowed: string, answer: () => Answer): Answer {
  return method === allowed ? answer() : notAllowed(allowed);
}

function notAllowed(allowed: string): Answer {
  return failure(405, `Use ${allowed} here`, { Allow: allowed });
}

function ok(body: NonNullable<Answer['body']>): Answer {
  return { status: 200, body };
}

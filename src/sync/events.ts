import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { LoginRecord } from '../service/login.ts';
import type { CloseResult } from '../store/store.ts';
import type { RunKind } from '../store/tables/runs.ts';
import type { RunReport } from './report.ts';

/** Everything that happens in a worker and that others are told of. */
export type WorkerEvent =
  /** A login that was sent, whatever its outcome. */
  | { readonly type: 'login'; readonly login: LoginRecord }
  | { readonly type: 'runStarted'; readonly kind: RunKind }
  /** A first load of so many leagues that it takes seconds is about to be written. */
  | { readonly type: 'firstLoad'; readonly received: number }
  | { readonly type: 'runEnded'; readonly report: RunReport }
  /** The database is closed; the last event. */
  | { readonly type: 'closed'; readonly result: CloseResult };

/** Is called for every event, in the order of subscription. Must return at once. */
export type Listener = (event: WorkerEvent) => void;

export type Events = {
  /** Never throws: a listener that fails is logged, and the others are called all the same. */
  readonly emit: Listener;
  readonly subscribe: (listener: Listener) => void;
};

export function createEvents(log: Log): Events {
  const listeners: Listener[] = [];
  return {
    emit: (event) => {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          log.error({ err: toRunError(error), event: event.type }, `handling the event ${event.type} failed`);
        }
      }
    },
    subscribe: (listener) => listeners.push(listener),
  };
}

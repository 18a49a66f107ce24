import { toRunError } from './errors.ts';
import type { Log } from './log.ts';
import type { LoginRecord } from './service/login.ts';
import type { RunEvent } from './sync/report.ts';

export type WorkerEvent =
  | RunEvent
  /** A login ended, with any outcome; not emitted if a Retry-After prevented the login. */
  | { readonly type: 'login'; readonly login: LoginRecord }
  | { readonly type: 'webhookAttempt'; readonly outcome: 'accepted' | 'failed' | 'gone' };

/** Listeners are called synchronously, in the order of subscription. */
export type Listener = (event: WorkerEvent) => void;

/** `emit` never throws: it logs a listener's error and calls the other listeners. */
export function createEvents(log: Log) {
  const listeners: Listener[] = [];
  const emit: Listener = (event) => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        log.error({ err: toRunError(error), event: event.type }, `handling the event ${event.type} failed`);
      }
    }
  };
  /** A listener is undefined if its feature is not configured. */
  const subscribe = (...added: (Listener | undefined)[]): void => {
    listeners.push(...added.filter((listener) => listener !== undefined));
  };
  return { emit, subscribe };
}

export type Events = ReturnType<typeof createEvents>;

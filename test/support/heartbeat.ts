import type { RunError } from '../../src/errors.ts';
import { StoppedError } from '../../src/errors.ts';
import type { PingMessage, SendPing } from '../../src/observe/heartbeat.ts';

/** A fake monitoring service that records its messages. */
export type Listener = {
  readonly ping: SendPing;
  /** The kinds of the messages, oldest first. */
  readonly kinds: () => readonly PingMessage['kind'][];
  readonly told: readonly PingMessage[];
  /** Sets the response to all further messages. */
  readonly answer: (how: Answering) => void;
  /** Completes a hanging message. */
  readonly release: () => void;
};

export type Answering = 'take' | 'hang' | RunError;

/** Creates a service that accepts every message by default. A hanging message ends at its abort. */
export function createListener(): Listener {
  const told: PingMessage[] = [];
  let how: Answering = 'take';
  let release = (): void => undefined;
  const ping: SendPing = (message, signal) => {
    told.push(message);
    if (how === 'take') return Promise.resolve();
    if (how !== 'hang') return Promise.reject(how);
    return new Promise((resolve, reject) => {
      release = resolve;
      signal.addEventListener('abort', () => reject(new StoppedError()), { once: true });
    });
  };
  return {
    ping,
    told,
    kinds: () => told.map(({ kind }) => kind),
    answer: (next) => {
      how = next;
    },
    release: () => release(),
  };
}

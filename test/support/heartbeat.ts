import type { RunError } from '../../src/errors.ts';
import { StoppedError } from '../../src/errors.ts';
import type { PingMessage, SendPing } from '../../src/observe/heartbeat.ts';

/** A monitoring service that answers as a test says, and everything that it was told. */
export type Listener = {
  readonly ping: SendPing;
  /** The kinds of what was told, oldest first. */
  readonly kinds: () => readonly PingMessage['kind'][];
  readonly told: readonly PingMessage[];
  /** What it does with every message from now on. */
  readonly answer: (how: Answering) => void;
  /** Lets a message through that hangs. */
  readonly release: () => void;
};

export type Answering = 'take' | 'hang' | RunError;

/** A listener that takes everything until it is told otherwise. A message that hangs ends as late as it may. */
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

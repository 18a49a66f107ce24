import type { RunError } from '../../src/errors.ts';
import { StoppedError } from '../../src/errors.ts';
import type { PingMessage, SendPing } from '../../src/observe/heartbeat.ts';

export type Answering = 'take' | 'hang' | RunError;

/** A fake monitoring service that records its messages, and accepts every one by default. A hanging message ends at its abort. */
export function createListener() {
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
    told: told as readonly PingMessage[],
    /** The kinds of the messages, oldest first. */
    kinds: (): readonly PingMessage['kind'][] => told.map(({ kind }) => kind),
    /** Sets the response to all further messages. */
    answer: (next: Answering): void => {
      how = next;
    },
    /** Completes a hanging message. */
    release: (): void => release(),
  };
}

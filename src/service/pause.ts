import { type Clock, formatInstant } from '../clock.ts';
import { PausedError } from '../errors.ts';
import { type Head, LONGEST_PAUSE_MS, readRetryAfter } from './answer.ts';
import type { Transport } from './transport.ts';

/** The time for which the service asked not to be sent anything (`Retry-After`). */
export type Pause = {
  /** Instant (ms) at which it ends; 0 where there is none. */
  readonly until: () => number;
  readonly extend: (until: number) => void;
};

/** `onExtend` is told of every pause that the service asks for, so that it outlives the process. */
export function createPause(clock: Clock, until = 0, onExtend: (until: number) => void = () => undefined): Pause {
  let end = until;
  return {
    until: () => {
      end = Math.min(end, clock.now() + LONGEST_PAUSE_MS);
      return end > clock.now() ? end : 0;
    },
    extend: (later) => {
      if (later <= end) return;
      end = later;
      onExtend(end);
    },
  };
}

/**
 * A transport that sends nothing before the instant that the service's last `Retry-After` named, whoever asks. Until
 * then it rejects with a PausedError that says when.
 */
export function respectPause(transport: Transport, pause: Pause, clock: Clock): Transport {
  const send: typeof transport = Object.assign(
    async (...[query, signal]: Parameters<Transport>) => {
      const until = pause.until();
      if (until > 0) {
        const message = `The service asked not to be called before ${formatInstant(until)} (Retry-After); nothing is sent until then.`;
        throw new PausedError(message, until);
      }
      const onHead = (head: Head): void => {
        const notBefore = readRetryAfter(head, clock.now());
        if (notBefore !== undefined && head.status >= 300) pause.extend(notBefore);
        query.onHead?.(head);
      };
      return await transport({ ...query, onHead }, signal);
    },
    { [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose]() },
  );
  return send;
}

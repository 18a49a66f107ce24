import type { Message, Ping, PingFault } from '../../src/observe/ping.ts';

/** A monitoring service that answers as a test says, and everything that it was told. */
export type Listener = {
  readonly ping: Ping;
  /** The kinds of what was told, oldest first. */
  readonly kinds: () => readonly Message['kind'][];
  readonly told: readonly Message[];
  /** What it does with every message from now on. */
  readonly answer: (how: Answering) => void;
  /** Lets a message through that hangs. */
  readonly release: () => void;
};

export type Answering = 'take' | 'hang' | PingFault;

/** A listener that takes everything until it is told otherwise. A message that hangs ends as late as it may. */
export function createListener(): Listener {
  const told: Message[] = [];
  let how: Answering = 'take';
  let release = (): void => undefined;
  const ping: Ping = (message, signal) => {
    told.push(message);
    if (how !== 'hang') return Promise.resolve(how === 'take' ? undefined : how);
    return new Promise((resolve) => {
      release = () => resolve(undefined);
      signal.addEventListener('abort', () => resolve({ what: 'cut', passes: true }), { once: true });
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

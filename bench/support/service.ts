import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The service of the bench in a process of its own. */
export type Service = AsyncDisposable & {
  readonly url: string;
  /** Answers with this file from now on. */
  readonly serve: (file: string) => Promise<void>;
  /** What was asked until now does not count. */
  readonly forget: () => Promise<void>;
  /** When (ms since the epoch) the first request came since then, or since a file was served. */
  readonly firstRequestAt: () => Promise<number>;
};

const PROGRAM = join(import.meta.dirname, '../programs/service.ts');

export async function startService(): Promise<Service> {
  const child = fork(PROGRAM, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  const answered = async <T>(): Promise<T> => {
    const [answer] = await Promise.race([
      once(child, 'message'),
      ended.then(() => Promise.reject(new Error('the service of the bench has ended'))),
    ]);
    return answer as T;
  };
  const ask = (message: { readonly serve?: string }): Promise<{ readonly firstRequestAt?: number }> => {
    const answer = answered<{ readonly firstRequestAt?: number }>();
    child.send(message);
    return answer;
  };
  const { port } = await answered<{ readonly port: number }>();
  return {
    url: `http://127.0.0.1:${port}`,
    serve: async (file) => {
      await ask({ serve: file });
    },
    forget: async () => {
      await ask({});
    },
    firstRequestAt: async () => {
      const { firstRequestAt } = await ask({});
      if (firstRequestAt === undefined) throw new Error('the service saw no request');
      return firstRequestAt;
    },
    [Symbol.asyncDispose]: async () => {
      child.disconnect();
      await ended;
    },
  };
}

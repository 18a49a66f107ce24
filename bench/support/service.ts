import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { makeHome } from './scratch.ts';

/** The service of the benchmark in a process of its own, and a folder for the measurement. Disposing ends both. */
export type Service = AsyncDisposable & {
  readonly home: string;
  readonly url: string;
  /** Answers with this file from now on. */
  readonly serve: (file: string) => Promise<void>;
  /** Forgets the requests so far. */
  readonly forget: () => Promise<void>;
  /** When (ms since the epoch) the first request came since `forget` or `serve`. */
  readonly firstRequestAt: () => Promise<number>;
};

const PROGRAM = join(import.meta.dirname, '../programs/service.ts');

export async function startService(folder: string, name: string): Promise<Service> {
  const home = makeHome(folder, name);
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
    home: home.path,
    url: `http://127.0.0.1:${port}`,
    serve: async (file) => void (await ask({ serve: file })),
    forget: async () => void (await ask({})),
    firstRequestAt: async () => {
      const { firstRequestAt } = await ask({});
      if (firstRequestAt === undefined) throw new Error('the service saw no request');
      return firstRequestAt;
    },
    [Symbol.asyncDispose]: async () => {
      child.disconnect();
      await ended;
      home[Symbol.dispose]();
    },
  };
}

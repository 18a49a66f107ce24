import { toRunError } from '../errors.ts';
import type { AppOptions } from './app.ts';
import type { Watcher } from './monitor.ts';
import { type Answering, replyText } from './reply.ts';

type Note = (watcher: Watcher) => void;

/**
 * The app, with its pages and its metrics loaded late: once there is a login or a run to count, or somebody asks. By
 * then the worker has sent its first request, which need not wait for them. What is told meanwhile is counted, too.
 */
export function createLateApp({ monitor, ...options }: AppOptions): Answering {
  const early: Note[] = [];
  let counting: Watcher | undefined;
  const watch = (watcher: Watcher): void => {
    for (const note of early.splice(0)) note(watcher);
    counting = watcher;
  };
  let app: Promise<Answering> | undefined;
  const load = () => {
    app ??= import('./app.ts')
      .then(({ createApp }) => createApp({ monitor: { ...monitor, watch }, ...options }))
      .catch((error: unknown) => {
        options.log.error({ err: toRunError(error) }, 'the status page could not be loaded');
        return async () => replyText('The status page could not be loaded; the log says why.\n', 500);
      });
    return app;
  };
  const pass = (note: Note): void => {
    if (counting === undefined) {
      early.push(note);
      void load();
    } else note(counting);
  };
  monitor.watch({
    noteRun: (report) => pass((watcher) => watcher.noteRun(report)),
    noteLogin: (login) => pass((watcher) => watcher.noteLogin(login)),
  });
  return async (question) => (await load())(question);
}

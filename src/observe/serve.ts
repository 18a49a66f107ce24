import type { Config } from '../config/config.ts';
import type { Events } from '../events.ts';
import type { Log } from '../log.ts';
import type { Monitor } from './worker-state.ts';

/** Shows what a worker is and does; resolves to where, or to undefined if that is switched off. */
export type Serve = (
  config: Pick<Config, 'listen' | 'allowedHosts'>,
  worker: { readonly monitor: Monitor; readonly events: Events; readonly log: Log; readonly stop: AbortSignal },
) => Promise<(AsyncDisposable & { readonly url: string }) | undefined>;

/** Rejects with a SettingsError if the server cannot listen on the address. */
export const serveStatus: Serve = async ({ listen, allowedHosts }, { monitor, events, log, stop }) => {
  if (listen === 'off') return undefined;
  const [{ startServer }, { createApp }] = await Promise.all([import('./server.ts'), import('./routes.ts')]);
  const app = createApp(monitor, log, stop);
  events.subscribe(...app.listeners);
  const server = await startServer(listen, app.handle, { allowedHosts });
  log.info({ url: server.url }, `status page, probes, metrics: ${server.url}`);
  return server;
};

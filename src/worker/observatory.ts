import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log.ts';
import type { Monitor } from '../observe/monitor.ts';

/** Serves the status page, the probes and the metrics, unless that is off. Rejects with a SettingsError. */
export async function openObservatory({ listen }: Config, monitor: Monitor, log: Log): Promise<AsyncDisposable> {
  if (listen === 'off') return { [Symbol.asyncDispose]: async () => undefined };
  // Loaded only where it is wanted.
  const [{ openDoor }, { createApp }] = await Promise.all([
    import('../observe/server.ts'),
    import('../observe/app.ts'),
  ]);
  const door = await openDoor(listen, createApp({ monitor, clock: systemClock, log }).fetch);
  log.info({ url: door.url }, `status page, probes and metrics on ${door.url}`);
  return door;
}

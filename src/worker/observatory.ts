import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log.ts';
import { createHeartbeat, createPing, type Heartbeat } from '../observe/heartbeat.ts';
import type { Monitor } from '../observe/monitor.ts';
import type { Events } from '../sync/events.ts';

type Observed = { readonly monitor: Monitor; readonly events: Events; readonly log: Log };

/** Serves the status page, the probes and the metrics, unless that is off. Rejects with a SettingsError. */
export async function openObservatory(
  { listen }: Config,
  { monitor, events, log }: Observed,
): Promise<AsyncDisposable> {
  if (listen === 'off') return { [Symbol.asyncDispose]: async () => undefined };
  // Loaded only if it is wanted.
  const [{ openDoor }, { createApp }] = await Promise.all([
    import('../observe/server.ts'),
    import('../observe/app.ts'),
  ]);
  const app = createApp({ monitor, clock: systemClock, log });
  events.subscribe(app.note);
  const door = await openDoor(listen, app.answer);
  log.info({ url: door.url }, `status page, probes, metrics: ${door.url}`);
  return door;
}

/** The heartbeat, where an address for it is set. Nothing is sent yet. */
export function openHeartbeat({ heartbeat: source }: Config, log: Log): Heartbeat | undefined {
  if (source === undefined) return undefined;
  const { host } = source().url;
  return createHeartbeat({ ping: createPing(source), host, clock: systemClock, random: Math.random, log });
}

import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';

/** The returned function must be called every second. It takes what `league-sync poll` has asked for. */
export function createRequestWatch(
  store: Store,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  onRequest: () => void,
): () => void {
  let isTaking = false;
  const take = async (): Promise<void> => {
    const isAsked = await store.write(() => store.pollRequests.take(clock.now()));
    if (isAsked) onRequest();
  };
  return () => {
    if (isTaking) return;
    try {
      if (!store.read(store.pollRequests.arePending)) return;
    } catch {
      // The database watch reports a database that cannot be read.
      return;
    }
    isTaking = true;
    take()
      .catch((error: unknown) => log.debug({ err: toRunError(error) }, 'a request to poll could not be taken'))
      .finally(() => {
        isTaking = false;
      });
  };
}

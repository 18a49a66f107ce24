import { describeMirror, type MirrorSource } from '../config/mirror.ts';
import type { Output } from '../outputs/output-loop.ts';
import type { Store } from '../store/store.ts';
import { exponentialDelayMs } from '../time/clock.ts';
import type { RunMirror } from './process.ts';

/** Other processes change the database as well, such as `accept-removals`. */
const EVERY_MS = 60_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;
const RECORD_EVERY_MS = 3_600_000;

type MirrorOptions = {
  readonly store: Pick<Store, 'path' | 'writeError'>;
  readonly source: MirrorSource;
  readonly run: RunMirror;
};

export function createMirrorOutput({ store, source, run }: MirrorOptions): Output {
  /** The mirror that was compared in full; undefined after a failure. */
  let compared: string | undefined;
  return {
    name: 'mirror',
    title: 'the mirror',
    label: () => describeMirror(source()),
    everyMs: EVERY_MS,
    recordEveryMs: RECORD_EVERY_MS,
    retryMs: (failures) => exponentialDelayMs(failures, FIRST_RETRY_MS, LONGEST_RETRY_MS),
    // A mirror that fails is tried again on its own schedule.
    isWokenBy: ({ type }, isFailing) => type === 'runEnded' && !isFailing,
    step: async (signal, reach) => {
      const found = store.writeError();
      // Another database may be at the path.
      if (found?.gone) throw found;
      const target = source();
      const label = describeMirror(target);
      const job = compared === label ? 'follow' : 'fill';
      compared = undefined;
      const place = { path: store.path, target };
      const { seq, note } = await run(job, place, { signal, onProgress: (progress) => reach(progress.seq) });
      reach(seq);
      compared = label;
      return note;
    },
  };
}

import { appendFileSync } from 'node:fs';
import type { Output } from '../../src/outputs/output-loop.ts';
import { changeJson } from '../../src/store/queries/feed.ts';
import type { Store } from '../../src/store/store.ts';
import type { OutputName } from '../../src/store/tables/outputs.ts';

const LIMITS = { limit: 100, maxChars: 1_000_000 };

/** Appends every change, as a line of JSON, to a file. After a crash, the last lines may come twice. */
export function createAppendOutput(store: Store, file: string, name: OutputName): Output {
  return {
    name,
    title: 'the file',
    label: () => file,
    everyMs: 60_000,
    recordEveryMs: 0,
    retryMs: (failures) => Math.min(failures * 1_000, 300_000),
    isWokenBy: (event) => event.type === 'runEnded' && event.report.wrote,
    step: async (signal, reach) => {
      let seq = store.read(() => store.outputs.find(name))?.seq ?? 0;
      for (;;) {
        const changes = store.read(() => store.feed.changesAfter(seq, LIMITS));
        const last = changes.at(-1);
        if (last === undefined) return undefined;
        signal.throwIfAborted();
        appendFileSync(file, changes.map((change) => `${changeJson(change)}\n`).join(''));
        seq = last.seq;
        reach(seq);
      }
    },
  };
}

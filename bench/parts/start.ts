import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Findings, Goal, Part } from '../part.ts';
import { makeLeagues, writeLists } from '../support/leagues.ts';
import { type Service, startService } from '../support/service.ts';
import { formatSpread, markdownTable, paragraph } from '../support/statistics.ts';
import { databaseIn, startWorker } from '../support/worker.ts';
import { LIFELIKE } from './typical.ts';

/** Starts are short, so there are more of them than rounds. */
const STARTS_A_ROUND = 3;
const KINDS = ['first start', 'later start', 'as in the image'] as const;

type Kind = (typeof KINDS)[number];
type Start = { readonly kind: Kind; readonly requestMs: number; readonly storedMs: number };

/** How long a worker takes to start. */
export const start: Part = {
  name: 'start',
  title: 'Start',
  measure: async ({ rounds, folder }): Promise<Findings> => {
    await using service = await startService(folder, 'start');
    const { home } = service;
    await service.serve(writeLists(home, 'leagues', makeLeagues(LIFELIKE)).answer);
    const image = mkdtempSync(join(home, 'image-'));
    // Fills the compile cache that the container image is built with.
    await startOnce(service, 'as in the image', image);
    const starts: Start[] = [];
    for (let index = 0; index < rounds * STARTS_A_ROUND; index += 1) {
      const kept = mkdtempSync(join(home, 'kept-'));
      starts.push(await startOnce(service, 'first start', kept));
      starts.push(await startOnce(service, 'later start', kept));
      starts.push(await startOnce(service, 'as in the image', image));
    }
    return { goals: KINDS.map((kind) => goal(kind, starts)), text: `${ABOUT}\n\n${table(starts)}` };
  },
};

/** Starts a worker on an empty database; `kept` is the folder of the compile cache. */
async function startOnce(service: Service, kind: Kind, kept: string): Promise<Start> {
  rmSync(databaseIn(kept), { force: true });
  // Forgets the requests of earlier starts.
  await service.forget();
  const cache = kind === 'as in the image' ? { NODE_COMPILE_CACHE: join(kept, 'compile-cache') } : {};
  await using worker = startWorker(kept, service.url, cache);
  await worker.started();
  const storedMs = performance.timeOrigin + performance.now() - worker.spawnedAt;
  return { kind, requestMs: (await service.firstRequestAt()) - worker.spawnedAt, storedMs };
}

function of(kind: Kind, starts: readonly Start[], figure: 'requestMs' | 'storedMs'): readonly number[] {
  return starts.filter((start) => start.kind === kind).map((start) => start[figure]);
}

function goal(kind: Kind, starts: readonly Start[]): Goal {
  const values = of(kind, starts, 'requestMs').map((ms) => ms / 1_000);
  return { what: `${kind}, from process start to the first request`, values, unit: 's', must: 0.3, aim: 0.2 };
}

const ABOUT =
  paragraph(`The worker with its page on, ${LIFELIKE} leagues and an empty database, ${STARTS_A_ROUND} starts of each kind in a round:
the first on a machine; a later one there; and one with \`NODE_COMPILE_CACHE\` set and filled, as the container image has it.
A figure is the median of all starts of a kind, and in parentheses the least and the most.`);

function table(starts: readonly Start[]): string {
  const row = (what: string, figure: 'requestMs' | 'storedMs'): readonly string[] => [
    what,
    ...KINDS.map((kind) => formatSpread(of(kind, starts, figure))),
  ];
  return markdownTable(
    ['', ...KINDS],
    [row('until the first request, ms', 'requestMs'), row('until leagues and profile are stored, ms', 'storedMs')],
  );
}

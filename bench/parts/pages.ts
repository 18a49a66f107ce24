import { setTimeout as sleep } from 'node:timers/promises';
import type { Findings, Part } from '../part.ts';
import { makeLeagues, withChanges, writeLists } from '../support/leagues.ts';
import { startService } from '../support/service.ts';
import { formatCount, formatNumber, markdownTable, paragraph, quantile } from '../support/statistics.ts';
import { startWorker } from '../support/worker.ts';

const LEAGUES = 20_000;
const REST_MS = 1_000;
const SECONDS = 20;
const PROBES = { paths: ['/livez', '/readyz', '/metrics'], perSecond: 50 };
const PAGES = { paths: ['/', '/leagues', '/leagues?q=united', '/changes', '/status.json'], perSecond: 2 };

type Questions = { readonly paths: readonly string[]; readonly perSecond: number };

/**
 * How fast a worker answers probes and page requests while its leagues change. A Kubernetes probe times out after a
 * second.
 */
export const pages: Part = {
  name: 'pages',
  title: 'Probes and pages',
  measure: async ({ folder }): Promise<Findings> => {
    await using service = await startService(folder, 'pages');
    const leagues = makeLeagues(LEAGUES);
    const one = writeLists(service.home, 'one', leagues);
    const other = writeLists(service.home, 'other', withChanges(leagues));
    await service.serve(one.answer);
    await using worker = startWorker(service.home, service.url);
    const url = await worker.url();
    await worker.started();
    const asked = new AbortController();
    const polls = (async () => {
      for (let list = other; !asked.signal.aborted; list = list === one ? other : one) {
        await service.serve(list.answer);
        await worker.poll();
        await sleep(REST_MS);
      }
    })();
    const rows = [
      row(`probes and metrics, ${PROBES.perSecond} a second`, await ask(url, PROBES)),
      row(`pages, ${PAGES.perSecond} a second`, await ask(url, PAGES)),
    ];
    asked.abort();
    await polls;
    return { goals: [], text: `${ABOUT}\n\n${table(rows)}` };
  },
};

/** Requests the paths in turn at a constant rate, regardless of response times. Returns milliseconds per request. */
async function ask(url: string, { paths, perSecond }: Questions): Promise<readonly number[]> {
  const took: Promise<number>[] = [];
  for (let index = 0; index < perSecond * SECONDS; index += 1) {
    took.push(time(url + paths[index % paths.length]));
    await sleep(1_000 / perSecond);
  }
  return Promise.all(took);
}

async function time(url: string): Promise<number> {
  const began = performance.now();
  const response = await fetch(url);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return performance.now() - began;
}

const ABOUT =
  paragraph(`A worker with ${formatCount(LEAGUES)} leagues polls a second after each poll, and each finds 200 leagues changed. Asked
meanwhile for ${SECONDS} s each: ${PROBES.paths.map((path) => `\`${path}\``).join(', ')}; and ${PAGES.paths.map((path) => `\`${path}\``).join(', ')}.`);

function table(rows: readonly (readonly string[])[]): string {
  return markdownTable(['answers, ms', 'asked', 'median', '95 %', '99 %', 'most'], rows);
}

function row(what: string, took: readonly number[]): readonly string[] {
  const shares = [0.5, 0.95, 0.99, 1].map((share) => formatNumber(quantile(took, share)));
  return [what, formatCount(took.length), ...shares];
}

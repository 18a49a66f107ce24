import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Findings, Part } from '../part.ts';
import { makeLeagues, type SentLeague, writeLists } from '../support/leagues.ts';
import { processorMs, residentBytes } from '../support/meters.ts';
import { startService } from '../support/service.ts';
import { formatSpread, markdownTable, median, paragraph, ratios } from '../support/statistics.ts';
import { startWorker } from '../support/worker.ts';
import { LIFELIKE } from './typical.ts';

const POLLS = 100;
const WARM_UP = 20;
const IDLE_MS = 5_000;
const KINDS = ['no webhook', 'a receiver that accepts', 'a receiver that hangs'] as const;

type Kind = (typeof KINDS)[number];
type Cost = {
  readonly kind: Kind;
  readonly pollMs: number;
  readonly slowestPollMs: number;
  readonly processorMs: number;
  readonly residentBytes: number;
  /** Share of one processor, in per cent. */
  readonly idleShare: number;
};

/** What a webhook costs a worker, and above all its polls. */
export const webhook: Part = {
  name: 'webhook',
  title: 'A webhook',
  measure: async ({ rounds, folder }): Promise<Findings> => {
    const costs: Cost[] = [];
    for (let round = 0; round < rounds; round += 1)
      for (const kind of KINDS) costs.push(await measureCost(kind, folder));
    const pollsOf = (kind: Kind) => costs.filter((cost) => cost.kind === kind).map(({ pollMs }) => pollMs);
    const values = ratios(pollsOf('a receiver that hangs'), pollsOf('no webhook'));
    const what = 'a poll while the receiver of the webhook hangs, compared with no webhook';
    return { goals: [{ what, values, unit: '×', must: 1.5, aim: 1.1 }], text: `${ABOUT}\n\n${table(costs)}` };
  },
};

async function measureCost(kind: Kind, folder: string): Promise<Cost> {
  await using service = await startService(folder, 'webhook');
  const { home } = service;
  const [even, odd] = [0, 1].map((more) => writeLists(home, `list-${more}`, withPriority(more)).answer);
  await using receiver = await startReceiver(kind === 'a receiver that hangs');
  const env = kind === 'no webhook' ? {} : { ...receiver.env };
  await service.serve(String(even));
  await using worker = startWorker(home, service.url, env);
  await worker.started();
  const durations: number[] = [];
  const pollAll = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      await service.serve(String(index % 2 === 0 ? odd : even));
      const { outcome, durationMs } = await worker.poll();
      if (outcome !== 'changed') throw new Error(`a poll with changes ended as "${outcome}"`);
      durations.push(durationMs);
    }
  };
  await pollAll(WARM_UP);
  durations.length = 0;
  const beganMs = processorMs(worker.pid);
  await pollAll(POLLS);
  if (kind === 'a receiver that accepts') await receiver.accepted((WARM_UP + POLLS) * LIFELIKE);
  const perPoll = (processorMs(worker.pid) - beganMs) / POLLS;
  const restedMs = processorMs(worker.pid);
  await sleep(IDLE_MS);
  return {
    kind,
    pollMs: median(durations),
    slowestPollMs: Math.max(...durations),
    processorMs: perPoll,
    residentBytes: residentBytes(worker.pid),
    idleShare: ((processorMs(worker.pid) - restedMs) / IDLE_MS) * 100,
  };
}

function withPriority(priority: number): readonly SentLeague[] {
  return makeLeagues(LIFELIKE).map((league) => ({ ...league, priority }));
}

async function startReceiver(hangs: boolean) {
  let lastSeq = 0;
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { to_seq?: number } };
    if (hangs) return;
    lastSeq = data.to_seq ?? lastSeq;
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    env: {
      LEAGUE_SYNC_WEBHOOK_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      LEAGUE_SYNC_WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    },
    /** Waits until the changes up to this one have arrived. */
    accepted: async (seq: number): Promise<void> => {
      while (lastSeq < seq) await sleep(5);
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const ABOUT =
  paragraph(`A worker with ${LIFELIKE} leagues, all of which change with every poll. ${POLLS} polls back to back, asked for by
SIGHUP, after ${WARM_UP} that are not counted; with a receiver that accepts, until the last change has arrived. Every SIGHUP
also ends the wait after a failed attempt, but not an attempt, so that the receiver that hangs holds one request open all
the time. Polls share
the process with the deliveries of the one before, which in real life are over when the next poll comes. Durations are
those in the log, and the idle share is that of ${IDLE_MS / 1_000} s after the polls.`);

function table(costs: readonly Cost[]): string {
  const row = (what: string, figure: (cost: Cost) => number): readonly string[] => [
    what,
    ...KINDS.map((kind) => formatSpread(costs.filter((cost) => cost.kind === kind).map(figure))),
  ];
  return markdownTable(
    ['', ...KINDS],
    [
      row('a poll, median, ms', ({ pollMs }) => pollMs),
      row('the slowest poll, ms', ({ slowestPollMs }) => slowestPollMs),
      row('processor time per poll, deliveries included, ms', (cost) => cost.processorMs),
      row('resident after the polls, MB', (cost) => cost.residentBytes / 1e6),
      row('processor when idle, % of one', ({ idleShare }) => idleShare),
    ],
  );
}

import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import type { SendRequest } from '../../src/http/request.ts';
import bundled from '../../src/simulator/leagues.json' with { type: 'json' };
import { systemClock } from '../../src/time/clock.ts';
import { openDelivery } from '../../src/webhook/delivery.ts';
import type { Findings, Part } from '../part.ts';
import { makeHome, makeScratchFolder, memoryFolder } from '../support/scratch.ts';
import { formatCount, formatNumber, markdownTable, paragraph } from '../support/statistics.ts';
import { createHandClock } from '../year/clock.ts';
import { openYearWorker } from '../year/worker.ts';

const POLLS = 1_440;
const MINUTE_MS = 60_000;
const LEAGUES = bundled.leagues.length;
const KINDS = { 'all fields': [], 'a quiet field': ['last_update_datetime'] } as const;

type Day = {
  readonly databaseBytes: number;
  readonly pollMs: number;
  readonly messages: number;
  readonly messageBytes: number;
  readonly changes: number;
  readonly changeBytes: number;
};

/** What it costs if the service stamps all leagues all the time, and what LEAGUE_SYNC_QUIET_FIELDS saves. */
export const noise: Part = {
  name: 'noise',
  title: 'A day of noise',
  measure: async ({ folder }): Promise<Findings> => {
    const memory = memoryFolder();
    const parent = memory === undefined ? folder : makeScratchFolder(memory);
    const days: Day[] = [];
    for (const quiet of Object.values(KINDS)) days.push(await measureDay(parent, quiet));
    const row = (what: string, figure: (day: Day) => string) => [what, ...days.map(figure)];
    const rows = [
      row('rows of the feed', ({ changes }) => formatCount(changes)),
      row('database, MB', ({ databaseBytes }) => formatNumber(databaseBytes / 1e6)),
      row('messages to the webhook', ({ messages }) => formatCount(messages)),
      row('the same, MB', ({ messageBytes }) => formatNumber(messageBytes / 1e6)),
      row('changes to a mirror, MB', ({ changeBytes }) => formatNumber(changeBytes / 1e6)),
      row('processor time of a poll, with its messages, ms', ({ pollMs }) => formatNumber(pollMs)),
    ];
    return { goals: [], text: `${ABOUT}\n\n${markdownTable(['', ...Object.keys(KINDS)], rows)}` };
  },
};

const ABOUT =
  paragraph(`${formatCount(POLLS)} polls, one a minute of a clock that is moved by hand, each of which finds another
\`last_update_datetime\` in all ${LEAGUES} leagues and no other difference: with all fields compared, and with
\`LEAGUE_SYNC_QUIET_FIELDS=last_update_datetime\`. The worker's parts are wired as for the year of polls, with its webhook
besides, whose receiver accepts each message at once. Changes to a mirror are \`before\` and \`after\` of the feed, which
it is sent.`);

async function measureDay(folder: string, quietFields: readonly string[]): Promise<Day> {
  using home = makeHome(folder, 'noise');
  const path = join(home.path, 'leagues.db');
  const clock = createHandClock(Date.now() - POLLS * MINUTE_MS);
  const beganAt = clock.now();
  const listing = (now: number) => {
    const version = Math.floor((now - beganAt) / MINUTE_MS);
    const last_update_datetime = new Date(beganAt + version * MINUTE_MS).toISOString();
    return { version, leagues: bundled.leagues.map((league) => ({ ...league, last_update_datetime })) };
  };
  const without = ['outage', 'bad element', 'part of the list', 'new field'] as const;
  const receiver = createReceiver();
  const stop = new AbortController();
  let pollMs = 0;
  {
    await using worker = await openYearWorker(path, { clock, listing, conditional: true, without, quietFields });
    const { store } = worker;
    const delivery = await openDelivery(
      {
        ...{ store, log: pino({ level: 'silent' }), emit: () => undefined, send: receiver.send },
        source: () => ({ url: new URL('https://receiver.example/'), keys: [Buffer.alloc(24)], proxy: undefined }),
        ...{ clock: systemClock, random: Math.random, isStale: () => false },
      },
      stop.signal,
    );
    const delivering = delivery.deliver(stop.signal);
    const began = process.cpuUsage();
    for (let poll = 0; poll < POLLS; poll += 1) {
      clock.advanceTo(beganAt + poll * MINUTE_MS);
      const report = await worker.poll();
      if (report.error !== undefined) throw report.error;
      delivery.onEvent({ type: 'runEnded', report });
      await receiver.has(store.read(store.feed.lastSeq));
    }
    const { user, system } = process.cpuUsage(began);
    pollMs = (user + system) / 1_000 / POLLS;
    stop.abort();
    await delivering;
  }
  return { ...receiver.seen(), ...readChanges(path), databaseBytes: statSync(path).size, pollMs };
}

/** Accepts each message at once, and counts. */
function createReceiver() {
  let [messages, messageBytes, seq] = [0, 0, 0];
  let onMessage = (): void => undefined;
  const send: SendRequest = async ({ body = '' }) => {
    const { data } = JSON.parse(String(body)) as { readonly data: { readonly to_seq?: number } };
    messages += 1;
    messageBytes += body.length;
    seq = data.to_seq ?? seq;
    onMessage();
    return { status: 204, body: Buffer.alloc(0), header: () => undefined, via: '' };
  };
  return {
    send,
    /** Resolves when all changes up to this one have arrived. */
    has: async (last: number): Promise<void> => {
      while (seq < last) {
        const { promise, resolve } = Promise.withResolvers<void>();
        onMessage = resolve;
        await promise;
      }
    },
    seen: () => ({ messages, messageBytes }),
  };
}

function readChanges(path: string): Pick<Day, 'changes' | 'changeBytes'> {
  const db = new Database(path, { readonly: true });
  try {
    const select = `SELECT count(*) AS changes, total(length(before)) + total(length(after)) AS changeBytes FROM league_changes`;
    const found = db.prepare<[], Pick<Day, 'changes' | 'changeBytes'>>(select).get();
    if (found === undefined) throw new Error('the feed cannot be counted');
    return found;
  } finally {
    db.close();
  }
}

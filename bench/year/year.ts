import { statSync } from 'node:fs';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Database from 'better-sqlite3';
import { createHandClock, type HandClock } from './clock.ts';
import { type Times, timePages, timeStatements } from './measure.ts';
import { openYearWorker, type YearWorker } from './worker.ts';

// A year of polls every minute, with the real store, session, client and pruning, an in-memory service and a simulated
// clock: how large the database becomes, how long queries take, and whether memory grows.

export const YEAR_OF_POLLS = 525_600;
const MINUTE_MS = 60_000;
const POLLS_AN_HOUR = 60;
const POLLS_A_DAY = 24 * POLLS_AN_HOUR;
const MONTHS = 12;

export type YearOptions = {
  /** Fewer polls make a shorter year, with shorter months. */
  readonly polls: number;
  /**
   * Whether the service answers 304 if its list is unchanged. Otherwise every response is the whole list, and the year
   * takes more than twice as long.
   */
  readonly conditional: boolean;
};

export type YearFigures = {
  readonly polls: number;
  /** Processor time of one poll and what comes with it. */
  readonly pollMs: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** The database after a checkpoint, and the largest size of the WAL. */
  readonly bytes: { readonly database: number; readonly largestWal: number };
  readonly rows: Readonly<Record<string, number>>;
  readonly freshnessMs: number;
  readonly attentionMs: number;
  readonly pagesMs: Times;
  /** Processor time of the pages that people open most. */
  readonly processorMs: Times;
  readonly cookbookMs: Times;
  /** At the beginning, and after each month. */
  readonly memory: readonly Memory[];
};

/** What this process takes after garbage collection, and which day of the year it is. */
type Memory = { readonly day: number; readonly residentBytes: number; readonly heapBytes: number };

type Polled = Pick<YearFigures, 'outcomes' | 'memory' | 'pollMs'> & { readonly largestWal: number };

/** Runs the polls, the last of them at the current time, then measures common queries. Creates the database. */
export async function measureYear(path: string, { polls, conditional }: YearOptions): Promise<YearFigures> {
  const clock = createHandClock(Date.now() - polls * MINUTE_MS);
  const { largestWal, ...polled } = await pollFor(path, { polls, conditional, clock });
  // Closing checkpoints the WAL.
  const bytes = { database: statSync(path).size, largestWal };
  await using worker = await openYearWorker(path, { clock, conditional });
  const { pagesMs, processorMs } = await timePages(worker.store, clock);
  const times = await timeStatements(path);
  const { freshness: freshnessMs, attention: attentionMs, cookbook: cookbookMs } = times;
  return { polls, ...polled, bytes, rows: countRows(path), freshnessMs, attentionMs, pagesMs, processorMs, cookbookMs };
}

async function pollFor(path: string, options: YearOptions & { readonly clock: HandClock }): Promise<Polled> {
  await using worker = await openYearWorker(path, options);
  const { polls, clock } = options;
  const [beganAt, cpuBegan] = [clock.now(), process.cpuUsage()];
  const pollsAMonth = Math.ceil(polls / MONTHS);
  const outcomes: Record<string, number> = {};
  const memory: Memory[] = [];
  let largestWal = 0;
  for (let poll = 0; poll < polls; poll += 1) {
    clock.advanceTo(beganAt + poll * MINUTE_MS);
    const outcome = await pollOnce(worker, poll);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    largestWal = Math.max(largestWal, statSync(`${path}-wal`).size);
    if (poll % pollsAMonth === 0) memory.push(await lookAtMemory(poll / POLLS_A_DAY));
  }
  memory.push(await lookAtMemory(polls / POLLS_A_DAY));
  const { user, system } = process.cpuUsage(cpuBegan);
  return { outcomes, memory, largestWal, pollMs: (user + system) / 1_000 / polls };
}

/** The work of each minute: the poll, hourly the profile, and the maintenance in between. */
async function pollOnce(worker: YearWorker, poll: number): Promise<string> {
  const { outcome } = await worker.poll();
  if (poll % POLLS_AN_HOUR === 0) {
    await worker.pollProfile();
    // Lets the event loop turn: otherwise garbage would accumulate.
    await turnOfLoop();
  }
  await worker.look();
  return outcome;
}

function countRows(path: string): YearFigures['rows'] {
  const db = new Database(path, { readonly: true });
  try {
    const tables = db
      .prepare<[], string>("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name")
      .pluck()
      .all()
      .filter((name) => !name.startsWith('sqlite_'));
    return Object.fromEntries(
      tables.map((name) => [name, Number(db.prepare(`SELECT count(*) FROM "${name}"`).pluck().get())]),
    );
  } finally {
    db.close();
  }
}

async function lookAtMemory(day: number): Promise<Memory> {
  // Twice: finalizers of the first collection leave garbage for the second.
  for (let round = 0; round < 2; round += 1) {
    collectGarbage();
    await turnOfLoop();
  }
  const { rss, heapUsed } = process.memoryUsage();
  return { day, residentBytes: rss, heapBytes: heapUsed };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
}

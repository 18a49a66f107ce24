import Database from 'better-sqlite3';
import { codeOf } from '../../src/errors.ts';
import type { Row } from './database.ts';

// A separate program that reads a database alternating between two whole lists until it is stopped. node flip-reader.ts
// DATABASE ID…: the ids for the quick reads.

/** The results so far, sent regularly and at the end. */
export type Findings = {
  readonly reads: number;
  /** How many of the reads covered all rows. */
  readonly wholeReads: number;
  /** The number of different polls seen. */
  readonly versions: number;
  readonly longestMs: number;
  /** The errors of reads, by message. */
  readonly wrong: Readonly<Record<string, number>>;
};

const BUSY_TIMEOUT_MS = 2_000;
const WHOLE_EVERY = 100;
/** Pauses after this many reads: a busy loop would take the processor from the worker. */
const READS_A_TURN = 25;
const REST_MS = 5;

const [database = '', ...ids] = process.argv.slice(2);

/** One statement is one snapshot: the leagues, and the run that they are said to be from. */
const LOOK = `SELECT count(*) AS leagues, min(substr(league_name, -1)) AS first, max(substr(league_name, -1)) AS last,
    min(changed_at) AS oldest, max(changed_at) AS newest,
    (SELECT service_message FROM runs WHERE outcome = 'changed' ORDER BY id DESC LIMIT 1) AS said,
    (SELECT finished_at FROM runs WHERE outcome = 'changed' ORDER BY id DESC LIMIT 1) AS polled`;
const QUICK = `${LOOK} FROM leagues WHERE league_id IN (SELECT value FROM json_each(?))`;
const WHOLE = `${LOOK}, (SELECT last_success_at FROM freshness) AS fresh, (SELECT live_leagues FROM freshness) AS live,
    (SELECT finished_at FROM runs WHERE outcome IN ('changed', 'unchanged') ORDER BY id DESC LIMIT 1) AS checked
    FROM leagues WHERE ? IS NOT NULL`;

const kept = connect();
const quick = kept.prepare<[string], Row>(QUICK);
const whole = kept.prepare<[string], Row>(WHOLE);
const versions = new Set<unknown>();
const wrong = new Map<string, number>();
let reads = 0;
let wholeReads = 0;
let longestMs = 0;
let stopping = false;

process.once('message', () => {
  stopping = true;
});
takeTurn();

function takeTurn(): void {
  for (let read = 0; read < READS_A_TURN; read += 1) readOnce();
  const findings: Findings = {
    reads,
    wholeReads,
    versions: versions.size,
    longestMs,
    wrong: Object.fromEntries(wrong),
  };
  process.send?.(findings, () => {
    if (stopping) process.disconnect();
    else setTimeout(takeTurn, REST_MS);
  });
}

function readOnce(): void {
  const isWhole = reads % WHOLE_EVERY === 0;
  const reopens = reads % 2 === 1 || reads % (2 * WHOLE_EVERY) === 0;
  reads += 1;
  if (isWhole) wholeReads += 1;
  const beganAt = performance.now();
  try {
    const row = reopens ? readReopened(isWhole ? WHOLE : QUICK) : (isWhole ? whole : quick).get(JSON.stringify(ids));
    judge(row ?? {}, isWhole);
  } catch (error) {
    note(`${codeOf(error)} ${String(error)}`);
  }
  longestMs = Math.max(longestMs, performance.now() - beganAt);
}

function connect(): Database.Database {
  return new Database(database, { readonly: true, timeout: BUSY_TIMEOUT_MS });
}

function readReopened(sql: string): Row | undefined {
  const db = connect();
  try {
    return db.prepare<[string], Row>(sql).get(JSON.stringify(ids));
  } finally {
    db.close();
  }
}

/** Checks that all rows are of one list, and of the newest applied run. */
function judge(row: Row, isWhole: boolean): void {
  versions.add(row.polled);
  const ofOneList = row.first === row.last && row.oldest === row.newest;
  const ofTheRun = row.first === row.said && row.newest === row.polled;
  const complete = isWhole ? row.leagues === row.live && row.fresh === row.checked : row.leagues === ids.length;
  if (!ofOneList || !ofTheRun || !complete) note(`a mix: ${JSON.stringify(row)}`);
}

function note(what: string): void {
  wrong.set(what, (wrong.get(what) ?? 0) + 1);
}

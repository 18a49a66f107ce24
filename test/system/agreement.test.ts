import { rmSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fillDisk, setUpDisk } from '../rigs/disk/small-disk.ts';
import { type Bench, setUp } from '../support/bench.ts';
import { NO_MOUNT } from '../support/copy-process.ts';
import { makeFakeClock, missingFaketime, offsetTo, runUnder } from '../support/libfaketime.ts';
import { type Environment, eventually, type RunningProgram } from '../support/program.ts';
import { scrape } from '../support/scrape.ts';
import { serve, waitForReadiness } from '../support/status-server.ts';

/** A worker in some state, or the files of a stopped one. */
type Stage = {
  readonly bench: Bench;
  readonly worker: RunningProgram;
  /** The URL of the page; undefined once the worker has ended. */
  readonly url?: string;
  /** The settings of the worker, also for `status`. */
  readonly env?: Environment;
};

type Expected = {
  readonly state: 'good' | 'warning' | 'loading' | 'bad';
  readonly headline: string;
  readonly reasons?: readonly string[];
  readonly title: RegExp;
  /** Matches the last log line about the state. */
  readonly log: RegExp;
  /** The headline of `status` if its database cannot know of the problem, or is gone. */
  readonly status?: 'Up to date' | 'no database';
};

const HOUR = 3_600_000;
const LISTEN = { LEAGUE_SYNC_LISTEN: '127.0.0.1:0' };

const withoutAges = (text: string): string =>
  text.replace(/\d+ (s|min|h|d) ago/g, 'N ago').replace('just now', 'N ago');

/** The verdict of each view; all must agree. */
async function readViews(url: string) {
  const [readyz, json, page, { samples }] = await Promise.all([
    fetch(`${url}/readyz`),
    fetch(`${url}/status.json`).then(async (answer) => Object(await answer.json())),
    fetch(`${url}/`).then((answer) => answer.text()),
    scrape(url),
  ]);
  const { reasons } = Object(await readyz.json());
  const named = (list: readonly { readonly reason: string }[]): readonly string[] => list.map(({ reason }) => reason);
  const textIn = (pattern: RegExp): string => (pattern.exec(page)?.[1] ?? '').replace(/<[^>]*>/g, '');
  const headline = textIn(/id="state".*?<h1>(.*?)<\/h1>/s);
  return {
    readyz: { ready: readyz.status === 200, reasons: named(reasons) },
    json: { state: json.state, headline: withoutAges(json.headline), ready: json.ready, reasons: named(json.reasons) },
    page: { state: /class="state (\w+)" id="state"/.exec(page)?.[1], headline: withoutAges(headline) },
    title: textIn(/<title>(.*?)<\/title>/s),
    notReady: samples
      .filter(({ name, value }) => name === 'league_sync_not_ready' && value === 1)
      .map(({ labels }) => labels.reason),
  };
}

async function open(faults: readonly string[] = [], env: Environment = {}): Promise<Stage & { url: string }> {
  const bench = await setUp();
  const served = await serve(bench, env);
  await served.worker.waitForPoll('changed');
  for (const fault of faults) bench.simulator.setFault(fault, true);
  return { bench, worker: served.worker, url: served.url, env };
}

async function pollOnce(stage: Stage, outcome: string): Promise<Stage> {
  stage.worker.send('SIGHUP');
  await stage.worker.waitForPoll(outcome);
  return stage;
}

const FRESH = { state: 'good', headline: 'Up to date', title: /^✓ 124 leagues/ } as const;

const STATES: readonly (readonly [string, () => Promise<Stage | string>, Expected])[] = [
  [
    'a first start',
    async () => {
      const bench = await setUp({ faults: ['hang'] });
      const served = await serve(bench);
      await served.worker.waitForLog(({ msg }) => /^worker started/.test(String(msg)));
      await eventually('a poll is going on', () => bench.rows('SELECT * FROM runs').length > 0);
      return served;
    },
    {
      state: 'loading',
      headline: 'Loading the leagues for the first time',
      reasons: ['no-good-poll'],
      title: /^… loading/i,
      log: /^worker started/,
    },
  ],
  ['fresh data', () => open(), { ...FRESH, log: /leagues: changed: 124 received/ }],
  [
    'held removals',
    async () => pollOnce(await open(['drop-third']), 'held'),
    {
      state: 'warning',
      headline: 'Up to date, but 41 removals are held',
      title: /^! 41 held/,
      log: /leagues: held: 83 received, 41 held/,
    },
  ],
  [
    'a failing service',
    async () => pollOnce(await open(['not-json']), 'failed'),
    {
      state: 'warning',
      headline: 'Up to date, but the last poll failed',
      title: /^! /,
      log: /leagues: failed\. /,
    },
  ],
  [
    'stale data',
    async () => {
      const stage = await open(['not-json'], { LEAGUE_SYNC_STALE_AFTER: '1s' });
      await waitForReadiness(stage.url, ['stale']);
      return pollOnce(stage, 'failed');
    },
    {
      state: 'bad',
      headline: 'Stale: the last good poll was N ago',
      reasons: ['stale'],
      title: /^✗ \d+ s old/,
      log: /leagues: failed\. /,
    },
  ],
  [
    'refused credentials',
    async () => pollOnce(await open(['always-401']), 'failed'),
    {
      state: 'bad',
      headline: 'The service refuses the credentials',
      reasons: ['credentials-refused'],
      title: /^✗ /,
      log: /leagues: failed\. The service rejected/,
      // By the database alone the data is fresh; that a worker cannot log in is for its probes to say.
      status: 'Up to date',
    },
  ],
  [
    'a Retry-After',
    async () => pollOnce(await open(['long-pause']), 'failed'),
    {
      state: 'warning',
      headline: 'Up to date, but the last poll failed',
      title: /^! /,
      log: /It asks not to be called before/,
    },
  ],
  [
    'a database that was deleted',
    async () => {
      const stage = await open();
      for (const end of ['', '-wal', '-shm']) rmSync(`${stage.bench.database}${end}`);
      await stage.worker.waitForLog(({ msg }) => /was deleted, moved or replaced/.test(String(msg)));
      return stage;
    },
    {
      state: 'bad',
      headline: 'The database is gone',
      reasons: ['database'],
      title: /^✗ /,
      log: /was deleted, moved or replaced while the worker ran/,
      status: 'no database',
    },
  ],
  [
    'a full disk',
    async () => {
      const bench = await setUpDisk();
      if (bench === undefined) return NO_MOUNT;
      const served = await serve(bench);
      await served.worker.waitForPoll('changed');
      fillDisk(bench.disk, 0);
      bench.change();
      return pollOnce(served, 'failed');
    },
    {
      state: 'bad',
      headline: 'The database cannot grow: the disk is full',
      reasons: ['database'],
      title: /^✗ /,
      log: /the disk is full \(SQLITE_FULL\)/,
      // A full disk has no room for a row about it (docs/operations.md).
      status: 'Up to date',
    },
  ],
  [
    'a worker that was stopped',
    async () => {
      const { bench, worker } = await open();
      await worker.stop();
      return { bench, worker };
    },
    { ...FRESH, log: /stopped; all data saved/ },
  ],
  [
    'a worker that was killed',
    async () => {
      const { bench, worker } = await open();
      await worker.stop('SIGKILL');
      return { bench, worker };
    },
    { ...FRESH, log: /leagues: changed: 124 received/ },
  ],
  [
    'a clock that was set ahead',
    async () => {
      const why = missingFaketime();
      if (why !== undefined) return why;
      const bench = await setUp();
      const clock = makeFakeClock(bench.folder, offsetTo(Date.now()));
      const env = { ...LISTEN, LEAGUE_SYNC_STALE_AFTER: '30m' };
      const worker = runUnder(clock, bench, env);
      const { url } = await worker.waitForLog((line) => line.url !== undefined);
      await worker.waitForPoll('changed');
      bench.simulator.setFault('hang', true);
      clock.set(offsetTo(Date.now() + HOUR));
      await waitForReadiness(String(url), ['stale']);
      return { bench, worker, url: String(url), env };
    },
    {
      state: 'bad',
      headline: 'Stale: the last good poll was N ago',
      reasons: ['stale'],
      title: /^✗ 60 min old/,
      log: /leagues: changed: 124 received/,
      // The clock of `status` is right, so the data is seconds old.
      status: 'Up to date',
    },
  ],
];

describe('of', { timeout: 60_000 }, () => {
  it.for(STATES)(
    '%s, the page, /readyz, /status.json, the metrics, status and the log say the same',
    async ([, arrange, expected], { skip }) => {
      const stage = await arrange();
      if (typeof stage === 'string') return skip(stage);
      const { bench, worker, url, env = {} } = stage;
      const { state, headline, reasons = [], title, log, status } = expected;
      const ready = reasons.length === 0;
      if (url !== undefined) {
        const views = await readViews(url);
        expect(views).toMatchObject({
          readyz: { ready, reasons },
          json: { state, headline, ready, reasons },
          page: { state, headline },
          notReady: reasons,
        });
        expect(views.title).toMatch(title);
      }
      const messages = worker.log().map(({ msg }) => stripVTControlCharacters(String(msg)));
      expect(messages.some((message) => log.test(message))).toBe(true);

      const told = await bench.run(['status', '--json'], env);
      if (status === 'no database') {
        expect(told).toMatchObject({ code: 74, stdout: '' });
        return;
      }
      const verdict = JSON.parse(told.stdout);
      if (status === undefined) {
        expect({ ...verdict, headline: withoutAges(verdict.headline) }).toMatchObject({ state, headline, ready });
        expect(verdict.reasons.map(({ reason }: { reason: string }) => reason)).toEqual(reasons);
      } else expect(verdict.headline).toMatch(status);
      const { stdout } = await bench.run(['status'], env);
      expect(stdout.includes('no worker runs')).toBe(url === undefined);
      expect(/^token expires/m.test(stdout)).toBe(url !== undefined && verdict.token_expires_at !== null);
    },
  );
});

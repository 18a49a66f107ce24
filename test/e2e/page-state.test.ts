import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/observe/verdict.ts';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import { type Environment, eventually } from '../support/program.ts';
import { scrape } from '../support/scrape.ts';
import { type Served, serveHere, waitForReadiness } from '../support/status-server.ts';

type Stage = Served & { readonly bench: SimulatedBench };

/** What all views say, and what only the page does: the lines below its headline. */
type Expected = {
  readonly state: 'good' | 'warning' | 'loading' | 'bad';
  readonly headline: string;
  /** What the page says instead of this headline. */
  readonly inPlainWords?: string;
  readonly reasons?: readonly string[];
  readonly facts: RegExp;
  readonly advice?: RegExp;
  readonly session?: RegExp;
};

const AGE = 'data as of \\d\\d:\\d\\d:\\d\\d UTC \\((just now|\\d+ s old)\\)';
/** The first sign of the tab. */
const SIGNS = { good: '✓', warning: '!', loading: '…', bad: '✗' };
const NEXT = / · next poll at [\d:-]+ .*UTC \(in \d+ \w+\)$/;
/** Until when the data of a worker whose polls fail can be used, and when it tries again. */
const RETRY = /, good until [\d:-]+ .*UTC \(in \d+ \w+\) · tries again at [\d:-]+ .*UTC \(in \d+ \w+\)$/;

async function open(options: Parameters<typeof setUp>[0] = {}, env: Environment = {}): Promise<Stage> {
  const bench = await setUp(options);
  return { ...(await serveHere(bench, env)), bench };
}

/** A worker after a good poll, and one with these faults. */
async function openWith(faults: readonly string[], outcome: string, env: Environment = {}): Promise<Stage> {
  const stage = await open({}, env);
  await stage.worker.waitForPoll('changed');
  for (const fault of faults) stage.bench.simulator.setFault(fault, true);
  await stage.worker.pollNow(outcome);
  return stage;
}

const withoutAge = (text: string) => text.replace(/\d+ s ago|just now/, 'N s ago');
const named = (list: readonly { readonly reason: string }[]) => list.map(({ reason }) => reason);
const essenceOf = ({ state, headline, ready, reasons }: Verdict) => ({
  ...{ state, headline: withoutAge(headline), ready, reasons: named(reasons) },
});

/** The verdict of each view, ages left out. */
async function readViews({ url }: Served) {
  const [readyz, json, home, { samples }] = await Promise.all([
    fetch(`${url}/readyz`),
    fetch(`${url}/status.json`).then(async (answer) => Object(await answer.json())),
    fetch(`${url}/`),
    scrape(url),
  ]);
  const page = await home.text();
  const textIn = (pattern: RegExp) =>
    (pattern.exec(page)?.[1] ?? '').replace(/<[^>]*>/g, '').replaceAll('&middot;', '·');
  const notReady = samples.filter(({ name, value }) => name === 'league_sync_not_ready' && value === 1);
  return {
    readyz: { ready: readyz.status === 200, reasons: named(Object(await readyz.json()).reasons) },
    json: essenceOf(json),
    page: {
      status: home.status,
      state: /class="state (\w+)" id="state"/.exec(page)?.[1],
      icon: /<link rel="icon" href="\.\/icon-(\w+)\.svg"/.exec(page)?.[1],
      headline: withoutAge(textIn(/id="state".*?<h1>(.*?)<\/h1>/s)),
    },
    metrics: notReady.map(({ labels }) => labels.reason),
    title: withoutAge(textIn(/<title>(.*?)<\/title>/s)),
    pill: textIn(/<a class="pill".*?>(.*?)<\/a>/s),
    advice: textIn(/<ul class="attention">(.*?)(?:<ul class="checks">|<section)/s),
    facts: textIn(/<p class="facts">(.*?)<\/p>/s),
    session: textIn(/<dt>Session<\/dt><dd>(.*?)<\/dd>/s),
  };
}

const STATES: readonly (readonly [string, () => Promise<Stage>, Expected])[] = [
  [
    'a first poll',
    async () => {
      const stage = await open({ faults: ['hang'] });
      await eventually('a poll is going on', () => stage.bench.rows('SELECT * FROM runs').length > 0);
      return stage;
    },
    {
      state: 'loading',
      headline: 'Stale: the first poll has not ended',
      inPlainWords: 'No data yet: the first poll has not ended',
      reasons: ['no-good-poll'],
      facts: /^polling the leagues now$/,
    },
  ],
  [
    'fresh data',
    () => openWith([], 'unchanged'),
    { state: 'good', headline: 'Up to date', facts: NEXT, session: /^logged in token expires in .*last login .*: ok$/ },
  ],
  [
    'held removals',
    () => openWith(['drop-third'], 'held'),
    {
      state: 'warning',
      headline: 'Up to date, but 41 removals are held',
      facts: /^124 leagues, of which 41 were not found in the last list · /,
      advice: /If you do nothing, they stay in the database as they are\.\s*What you can do.*accept-removals/,
    },
  ],
  [
    'a list without leagues',
    async () => {
      const stage = await open({ leagues: [] });
      await stage.worker.waitForPoll('unchanged');
      return stage;
    },
    {
      state: 'good',
      headline: 'Up to date: the service lists no leagues',
      facts: /^0 leagues · /,
      advice: /an empty list\. .* check LEAGUE_SYNC_USERNAME and .*shows what the service answers/,
    },
  ],
  [
    'a profile that is forbidden',
    async () => {
      const stage = await open({ faults: ['profile-forbidden'] }, { LEAGUE_SYNC_PROFILE_SCHEDULE: '0 0 29 2 *' });
      await stage.worker.waitForLog(({ kind, outcome }) => kind === 'profile' && outcome === 'failed');
      return stage;
    },
    {
      state: 'good',
      headline: 'Up to date',
      facts: NEXT,
      advice:
        /profile is not readable: .*\(status 403\)\. .*The next attempt is at .* UTC \(in \d+ s\)\.\s*What you can do/,
    },
  ],
  [
    'a service that fails',
    () => openWith(['not-json'], 'failed'),
    { state: 'warning', headline: 'Up to date, but the last poll failed', facts: RETRY },
  ],
  [
    'a Retry-After',
    () => openWith(['long-pause'], 'failed'),
    {
      state: 'warning',
      headline: 'Up to date, but the last poll failed',
      facts: / · the service asked for a pause \(Retry-After\) until .* UTC \(in \d+ min\)$/,
    },
  ],
  [
    'stale data',
    async () => {
      const stage = await openWith(['not-json'], 'failed', { LEAGUE_SYNC_STALE_AFTER: '1s' });
      await waitForReadiness(stage.url, ['stale']);
      return stage;
    },
    {
      state: 'bad',
      headline: 'Stale: the answer cannot be used',
      reasons: ['stale'],
      facts: new RegExp(`124 leagues · ${AGE}, stale since today \\d\\d:\\d\\d · tries again at `),
    },
  ],
  [
    'refused credentials',
    () => openWith(['login-refused', 'revoke-tokens'], 'failed'),
    {
      state: 'bad',
      headline: 'The service refuses the credentials',
      reasons: ['credentials-refused'],
      facts: RETRY,
      session: /^login refused next try at .* UTC \(in \d+ s\)/,
    },
  ],
  [
    'a database that was deleted',
    async () => {
      const stage = await openWith(['drop-third'], 'held');
      // What has been read once must not be shown later.
      await fetch(stage.url);
      for (const end of ['', '-wal', '-shm']) rmSync(stage.bench.database + end);
      return stage;
    },
    {
      state: 'bad',
      headline: 'The database is gone',
      reasons: ['database'],
      facts: /^last good poll at [\d:]+ UTC \(.*\) · nothing is stored until the database can be used again$/,
      advice: /^(?!.*accept-removals)/s,
    },
  ],
];

describe('of', () => {
  it.each(STATES)(
    '%s, the page, /readyz, /status.json, the metrics and status say the same',
    async (_, arrange, expected) => {
      const { state, headline, inPlainWords, reasons = [], facts, advice = /^/, session = /^/ } = expected;
      const ready = reasons.length === 0;
      const stage = await arrange();
      const views = await readViews(stage);
      expect(views).toMatchObject({
        readyz: { ready, reasons },
        json: { state, headline, ready, reasons },
        page: {
          status: reasons.includes('database') ? 503 : 200,
          state,
          icon: state,
          headline: inPlainWords ?? headline,
        },
        metrics: reasons,
      });
      expect(views.title).toBe(`${SIGNS[state]} ${inPlainWords ?? headline} · league-sync`);
      expect(views.pill.includes(' · data ')).toBe(state !== 'loading' && !reasons.includes('database'));
      expect(views.facts).toMatch(facts);
      expect(views.advice).toMatch(advice);
      const list = await (await fetch(`${stage.url}/leagues`)).text();
      expect(/data-part="strip"><b>(.*?)\.</.exec(list)?.[1]).toBe(state === 'bad' ? headline : undefined);
      // The file alone does not know these two.
      if (!reasons.some((reason) => reason === 'credentials-refused' || reason === 'database'))
        expect(essenceOf(JSON.parse((await stage.bench.run(['status', '--json'])).stdout))).toEqual(views.json);
      expect(views.session).toMatch(session);
    },
  );

  it('a token that has expired, the page says so instead of a session', async () => {
    // Its expiry is two hours ahead by the service's clock.
    const stage = await open({ tokenLifeMs: 2_000, faults: ['wrong-clock'] }, { LEAGUE_SYNC_RUN_TIMEOUT: '1s' });
    await stage.worker.waitForPoll('changed');
    stage.bench.simulator.setFault('login-down', true);
    const session = async () => (await readViews(stage)).session;
    await expect.poll(session, { timeout: 20_000 }).toMatch(/^expired (just now|\d+ s ago)/);
  });
});

import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Bench, leagueRequests, setUp, setUpFor, setUpSynced } from '../support/bench.ts';
import { addBlockingTrigger, SECONDS } from '../support/blocking-trigger.ts';
import { startSilence } from '../support/certificate.ts';
import { freezeCopy, pad } from '../support/copy-process.ts';
import { askSqlite3, holdForWriting, isLocked, isWritten } from '../support/database.ts';
import { makeLeagues } from '../support/leagues.ts';
import { eventually, type RunningProgram, readLines } from '../support/program.ts';
import { countLeagues, pollChange, setUpPublishing, startFresh } from '../support/publish-setup.ts';
import { fail, listLeagues, type Service, startService } from '../support/service.ts';
import { expectCleanStop, expectInOrder, expectStop, STOPPING, stopInTime, wordsOf } from '../support/stopping.ts';

/** Enough leagues for a transaction of most of a second, so that a signal can arrive within it. */
const MANY = 20_000;
/** Longer than the busy timeout of SQLite, shorter than the grace period of a stopping worker. */
const HELD_MS = 500;

/** The last log lines of an idle worker, and of one within a poll. */
const IDLE_END = [STOPPING, expect.stringMatching(/^stopped\b/)];
const POLL_END = [STOPPING, expect.stringMatching(/^leagues: interrupted \(/), expect.stringMatching(/^stopped\b/)];
const APPLIED = /^leagues: changed: 20000 received, 20000 added/;

/** Never answers what it is asked, of which it makes a file, and ends with the command that it starts. */
const SILENT_NAME_SERVER = `
import fcntl, os, socket, struct, sys, time
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(server, 0x8914, struct.pack('16sh14x', b'lo', 0x41))  # lo is up
server.bind(('127.0.0.1', 53))
worker = os.getpid()
if os.fork() > 0: os.execvp(sys.argv[2], sys.argv[2:])
for fd in (0, 1, 2): os.close(fd)
server.settimeout(60)
server.recvfrom(512)
open(sys.argv[1], 'w')
while os.getppid() == worker: time.sleep(0.1)
`;

type Scene = { readonly bench: Bench; readonly worker: RunningProgram };

async function startIdle() {
  const bench = await setUp();
  const worker = bench.start(['run']);
  await worker.waitForPoll('changed');
  await eventually('the login is recorded', () => bench.rows('SELECT id FROM logins').length === 1);
  return { bench, worker };
}

/** A worker in the middle of its second poll: the service has the request and never answers. */
async function startWithinRequest() {
  const scene = await startIdle();
  scene.bench.simulator.setFault('hang', true);
  scene.worker.send('SIGHUP');
  await eventually('the request hangs', () => leagueRequests(scene.bench.simulator).length === 2);
  return scene;
}

function answered({ seen }: Service): number {
  return seen('leagues').filter(({ endedAt }) => endedAt < Infinity).length;
}

/** A command within the transaction of its first poll. */
async function startWithinTransaction(command: 'run' | 'sync'): Promise<Scene> {
  const service = await startService({ leagues: listLeagues(makeLeagues(MANY)) });
  const bench = setUpFor(service.url);
  const worker = bench.start([command], { LEAGUE_SYNC_LOG_LEVEL: 'info' });
  await eventually('the request is answered', () => answered(service) > 0);
  await eventually('the poll is being applied', () => isWritten(bench.database));
  return { bench, worker };
}

/** A worker whose copy of a change is half written. */
async function startCopying() {
  const bench = await setUpPublishing();
  expect((await bench.run(['sync'])).code).toBe(0);
  pad(bench.database);
  const worker = await startFresh(bench);
  await pollChange(bench, worker);
  return { bench, worker, copying: await freezeCopy(worker.pid, bench.shared) };
}

/** A worker with the response to its second poll, blocked by a writer since before that. */
async function startBehindWriter() {
  const { bench, worker } = await startIdle();
  bench.simulator.setFault('slow', true);
  worker.send('SIGHUP');
  await eventually('the second request is seen', () => leagueRequests(bench.simulator).length === 2);
  const writer = holdForWriting(bench.database);
  await eventually('it is answered', () => leagueRequests(bench.simulator)[1]?.status === 200);
  return { bench, worker, writer };
}

/** A command that has come as far as a database in which another program writes. */
async function startBlocked(command: string) {
  const bench = await setUpSynced();
  const writer = holdForWriting(bench.database);
  const worker = bench.start([command]);
  await eventually('it has come as far as the database', () => isLocked(bench.database));
  return { bench, worker, writer };
}

const CHANGED = { outcome: 'changed' };
const INTERRUPTED = { outcome: 'interrupted', http_status: null };

type Situation = readonly [
  what: string,
  arrange: () => Promise<Scene>,
  words: readonly unknown[],
  runs: readonly object[],
];

/** Each ends with these log lines after the signal but for late ones of start and login, and these runs. */
const SITUATIONS: readonly Situation[] = [
  ['between polls', startIdle, IDLE_END, [CHANGED]],
  ['within a request', startWithinRequest, POLL_END, [CHANGED, { ...INTERRUPTED, attempts: 1 }]],
  [
    'within a TLS handshake that the service never completes',
    async () => {
      const silence = await startSilence();
      const bench = setUpFor(`https://localhost:${silence.port}`);
      const worker = bench.start(['run']);
      await eventually('it connects', () => silence.connections() > 0);
      return { bench, worker };
    },
    POLL_END,
    [INTERRUPTED],
  ],
  [
    'within a lookup that no name server answers',
    async () => {
      const bench = setUpFor('https://service.example.com');
      const [resolver, asked] = [join(bench.folder, 'resolv.conf'), join(bench.folder, 'asked')];
      writeFileSync(resolver, 'nameserver 127.0.0.1\noptions timeout:30\n');
      const alone = ['unshare', '-m', '-n', 'sh', '-c', `mount --bind ${resolver} /etc/resolv.conf && exec "$@"`, 'sh'];
      const worker = bench.start(['run'], {}, { through: [...alone, 'python3', '-c', SILENT_NAME_SERVER, asked] });
      await eventually('it asks', () => existsSync(asked));
      return { bench, worker };
    },
    POLL_END,
    [INTERRUPTED],
  ],
  [
    'during a Retry-After that the run waits out',
    async () => {
      const service = await startService({ leagues: fail(503, { 'retry-after': '60' }) });
      const bench = setUpFor(service.url);
      const worker = bench.start(['run']);
      await eventually('the request is answered', () => answered(service) > 0);
      const pauses = () => bench.rows('SELECT id FROM runs WHERE not_before > 0').length;
      await eventually('the pause is recorded', () => pauses() === 1);
      return { bench, worker };
    },
    POLL_END,
    [{ ...INTERRUPTED, http_status: 503, attempts: 1, pause_is_kept: 1 }],
  ],
];

const RUNS = `SELECT outcome, http_status, attempts, coalesce(not_before > finished_at, 0) AS pause_is_kept
  FROM runs ORDER BY id`;
const outcomesOf = ({ rows }: Bench) => rows('SELECT outcome FROM runs ORDER BY id').map(({ outcome }) => outcome);

describe('a worker that is stopped', () => {
  it.each(SITUATIONS)('%s ends in time, in order', async (_, arrange, words, runs) => {
    const { bench, worker } = await arrange();
    const lines = wordsOf(await expectCleanStop(bench, worker));
    expect(lines.filter((line) => !/^(login|worker started)/.test(line))).toEqual(words);
    expect(bench.rows(RUNS)).toMatchObject(runs);
  });

  it('within the transaction of a poll finishes it and says so', async () => {
    const { bench, worker } = await startWithinTransaction('run');
    const words = wordsOf(await expectCleanStop(bench, worker));
    expect(words.slice(-3)).toEqual([expect.stringMatching(APPLIED), ...IDLE_END]);
    expect(bench.rows(RUNS)).toMatchObject([{ ...CHANGED, http_status: 200 }]);
  });

  it('while its copy is published leaves the earlier copy, without a warning', async () => {
    const { bench, worker, copying } = await startCopying();
    expect(wordsOf(await expectCleanStop(bench, worker))).toEqual(IDLE_END);
    expect([copying.hasEnded(), countLeagues(bench.copy)]).toEqual([true, 1]);
    expect(readdirSync(bench.shared)).toEqual(['copy.db']);
  });

  it('under npm counts a Ctrl-C that npm forwards once', async () => {
    const bench = await setUp();
    const worker = bench.start(['run'], { npm_lifecycle_event: 'start' });
    await worker.waitForPoll('changed');
    worker.send('SIGINT');
    await worker.waitForLog(({ msg }) => msg === STOPPING);
    worker.send('SIGINT');
    expect(await worker.waitForExit()).toMatchObject({ code: 0, stderr: '' });
    expect(worker.log().at(-1)?.msg).toMatch(/^stopped; all data saved/);
  });
});

describe('a worker that is stopped while another program is in the middle of a write', () => {
  it('that ends soon records how the poll ended', async () => {
    const { bench, worker, writer } = await startBehindWriter();
    const stopped = expectStop(worker);
    await worker.waitForLog(({ msg }) => msg === STOPPING);
    await rest(HELD_MS);
    writer.end();
    expect(wordsOf(await stopped)).toEqual(POLL_END);
    expectInOrder(bench.database);
    expect(outcomesOf(bench)).toEqual(['changed', 'interrupted']);
  });

  it('that does not end warns that the end of the poll is not recorded', async () => {
    const { bench, worker, writer } = await startBehindWriter();
    const lines = await expectStop(worker);
    const warnings = lines.filter(({ level, msg }) => Number(level) >= 40 && !String(msg).startsWith('waiting'));
    expect(warnings).toEqual([
      expect.objectContaining({ outcome: 'interrupted', msg: expect.stringMatching(/in use by another program/) }),
      expect.objectContaining({
        msg: expect.stringMatching(/^stopped; .* but the end of at least one run could not be written/),
      }),
    ]);
    writer.end();
    expect(outcomesOf(bench)).toEqual(['changed', 'running']);
  });

  it.each([
    ['run', 0],
    ['sync', 143],
  ])('at the start of %s ends with %i and touches nothing', async (command, expected) => {
    const { bench, worker, writer } = await startBlocked(command);
    expect((await stopInTime(worker)).code).toBe(expected);
    writer.end();
    expectInOrder(bench.database);
    expect(outcomesOf(bench)).toEqual(['changed']);
  });
});

describe('a one-shot command', () => {
  it.each([
    ['sync', 'SIGINT', 130],
    ['sync --dry-run', 'SIGTERM', 143],
  ] as const)('%s that gets %s within a request ends with %i', async (command, signal, expected) => {
    const bench = await setUp({ faults: ['hang'] });
    const program = bench.start(command.split(' '));
    await eventually('the request hangs', () => bench.simulator.requests.length === 1);
    expect((await program.stop(signal)).code).toBe(expected);
    const left = command === 'sync --dry-run' ? [] : ['data', 'data/leagues.db'];
    expect(readdirSync(bench.folder, { recursive: true })).toEqual(left);
  });

  it('that is stopped within the transaction finishes it, reports it, and ends with 143', async () => {
    const { bench, worker } = await startWithinTransaction('sync');
    const { code, stderr } = await worker.stop();
    expect([code, wordsOf(readLines(stderr)).at(-1)]).toEqual([143, expect.stringMatching(APPLIED)]);
    expectInOrder(bench.database);
    expect(outcomesOf(bench)).toEqual(['changed']);
  });
});

describe('a second signal ends at once', () => {
  it('a worker that waits for its copy to be published', async () => {
    const { bench, worker } = await startCopying();
    worker.send('SIGTERM');
    await worker.waitForLog(({ msg }) => msg === STOPPING);
    expect((await worker.stop('SIGINT')).code).toBe(130);
    // The next start can open it.
    expect(askSqlite3(bench.database, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(isLocked(bench.database)).toBe(false);
    expect(outcomesOf(bench)).toEqual(['changed', 'changed']);
  });

  // Node calls the handler of a signal when the event loop turns, which it does not within a transaction.
  it('a worker within a transaction, as soon as that is over', async () => {
    const { bench, worker } = await startIdle();
    addBlockingTrigger(bench.database, { on: 'UPDATE ON leagues' }, SECONDS);
    bench.simulator.setLeagues(bench.simulator.leagues().slice(1));
    worker.send('SIGHUP');
    await eventually('the request is answered', () => leagueRequests(bench.simulator)[1]?.status === 200);
    await eventually('the poll is being applied', () => isWritten(bench.database));
    // Two different signals, since the kernel merges equal pending ones; it also decides which of them comes first.
    worker.send('SIGTERM');
    worker.send('SIGINT');
    expect([130, 143]).toContain((await worker.waitForExit()).code);
    expect(outcomesOf(bench)).toEqual(['changed', 'changed']);
  });
});

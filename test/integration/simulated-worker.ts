import { pino } from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import { readSettings } from '../../src/config/environment.ts';
import { StoppedError } from '../../src/errors.ts';
import type { SendRequest } from '../../src/http/request.ts';
import { serveStatus } from '../../src/observe/serve.ts';
import { runWorker } from '../../src/worker/worker.ts';
import { createTestClock } from '../support/clock.ts';
import { type Row, readRows } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import type { Logged } from '../support/log-lines.ts';
import { json, type Kind, listLeagues, type PlainReply } from '../support/service.ts';
import { createAnswer } from '../support/unit-answer.ts';

/** A request that arrived, in ms of true time since the start. */
export type Sent = { readonly kind: Kind; readonly at: number; readonly authorization: string };

/** Its own reply instead of that of a healthy service, if any. */
export type Behaviour = (kind: Kind, sent: Sent) => PlainReply | undefined;

const SECOND = 1_000;
const TOKEN_LIFE_MS = 3_600 * SECOND;
/** The turns of the event loop that a run takes between two steps of the clock. */
const TURNS = 14;

/**
 * A whole worker on a clock that only the test moves, with a service in memory; only the files are real. The service
 * grants logins with the password that is in the file, rejects tokens that have expired, and polls are each minute.
 */
export function createSimulatedWorker(startAt: string, settings: Readonly<Record<string, string>> = {}) {
  const folder = makeFolder();
  const machine = createTestClock(Date.parse(startAt), TURNS);
  const begun = machine.monotonic();
  const elapsed = () => machine.monotonic() - begun;
  const sent: Sent[] = [];
  const lines: Logged[] = [];
  const service = { password: 'secret', tokenLifeMs: TOKEN_LIFE_MS, behaviour: (() => undefined) as Behaviour };
  const expiries = new Map<string, number>();
  const database = folder.file('leagues.db');
  const password = folder.write('password', service.password);

  const answerLogin = (authorization: string): PlainReply => {
    const pair = Buffer.from(`player:${service.password}`).toString('base64');
    if (authorization !== `Basic ${pair}`) return json({ result: 'fail', message: 'Invalid password' }, 401);
    const token = `access-token-${sent.length}`;
    expiries.set(`Bearer ${token}`, elapsed() + service.tokenLifeMs);
    const expire_datetime = new Date(Date.parse(startAt) + elapsed() + service.tokenLifeMs).toISOString();
    return json({ result: 'success', access_token: token, refresh_token: `refresh-${token}`, expire_datetime });
  };
  const answer = (kind: Kind, authorization: string): PlainReply => {
    if (kind === 'login') return answerLogin(authorization);
    if ((expiries.get(authorization) ?? 0) <= elapsed()) return json({ result: 'fail', message: 'No such token' }, 401);
    return kind === 'leagues' ? listLeagues([]) : json({ player: { player_id: 'p1' }, player_premium_items: [] });
  };
  const send: SendRequest = async (request, signal) => {
    signal.throwIfAborted();
    const authorization = request.headers?.authorization ?? '';
    const kind = request.url.includes('/login') ? 'login' : request.url.includes('/leagues/') ? 'leagues' : 'profile';
    const one = { kind, at: elapsed(), authorization } as const;
    sent.push(one);
    const { body, status = 200, headers } = service.behaviour(kind, one) ?? answer(kind, authorization);
    const date = new Date(Date.parse(startAt) + elapsed()).toUTCString();
    const response = createAnswer(body, { status, headers: { date, ...headers } });
    request.onHead?.(response);
    return response;
  };
  let stopping = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  let pollNow = (): void => undefined;
  const stop = async (): Promise<void> => {
    stopping.abort(new StoppedError());
    await ended;
  };
  return {
    folder,
    service,
    sent,
    lines,
    elapsed,
    advance: machine.advance,
    /** Steps the wall clock of the worker's machine, or lets it sleep for so long. */
    step: machine.step,
    /** What is in the secret file. */
    setSecret: (secret: string) => folder.write('password', secret),
    /** When the requests of one kind arrived, in whole seconds. */
    times: (kind: Kind) => sent.filter((one) => one.kind === kind).map(({ at }) => Math.floor(at / SECOND)),
    runs: (columns = 'outcome'): readonly Row[] =>
      readRows(database, `SELECT ${columns} FROM runs WHERE kind = 'leagues' ORDER BY id`),
    start: async (): Promise<void> => {
      const values = {
        LEAGUE_SYNC_BASE_URL: 'https://service.example',
        LEAGUE_SYNC_USERNAME: 'player',
        LEAGUE_SYNC_PASSWORD_FILE: password,
        LEAGUE_SYNC_DATABASE: database,
        LEAGUE_SYNC_SCHEDULE: '* * * * *',
        LEAGUE_SYNC_PROFILE_SCHEDULE: 'off',
        LEAGUE_SYNC_LISTEN: 'off',
        ...settings,
      };
      stopping = new AbortController();
      ended = runWorker(loadConfig(readSettings(values), {}), {
        system: { clock: machine, random: () => 0.5, send },
        log: pino({ level: 'debug' }, { write: (line: string) => lines.push(JSON.parse(line)) }),
        pid: process.pid,
        signal: stopping.signal,
        onPollNow: (given) => {
          pollNow = given;
        },
        copy: () => Promise.reject(new Error('nothing is copied here')),
        mirror: () => Promise.reject(new Error('nothing is mirrored here')),
        serve: serveStatus,
      });
      ended.catch(() => undefined);
      await machine.advance(0);
    },
    /** What SIGHUP does. */
    pollNow: () => pollNow(),
    stop,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await stop();
      folder[Symbol.dispose]();
    },
  };
}

import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { acceptRemovals, readHeldRemovals } from '../../../src/store/tables/held-removals.ts';
import { requestPoll } from '../../../src/store/tables/poll-requests.ts';
import { moveDeliveries } from '../../../src/webhook/replay.ts';
import { makeLeague } from '../../support/leagues.ts';
import type { Lives } from './lives.ts';
import type { Stage } from './stage.ts';

const HOUR = 3_600_000;
const FAULTS = [
  ...['down', 'login-down', 'login-refused', 'rate-limit', 'long-pause', 'profile-forbidden', 'redirect', 'always-401'],
  ...['result-fail', 'not-json', 'empty-list', 'drop-third', 'bad-rows', 'new-field', 'duplicates', 'etag'],
  ...['born-expired', 'wrong-clock', 'slow', 'cut-body', 'hang', 'webhook-500', 'webhook-410', 'webhook-hang'],
];
const MOST_FAULTS = 2;
/** A world has few kinds of faults, so that they come again, and in each order. */
const FAULTS_A_WORLD = 5;
/** More than one message of the webhook may hold, in a few worlds, by number or by size. */
const FIRST_LEAGUES = [15, 15, 15, 120];
const IMAGE = `https://images.example.com/${'x'.repeat(700)}`;
const CLOCK_STEPS_MS = [-2 * HOUR, -3_000, 3_000, 90_000, 2 * HOUR, 40 * HOUR];
/** What ends a worker; in some worlds nothing does. */
const ENDS: readonly Kind[] = ['kill', 'stop', 'restore', 'restart'];

export type Kind = (typeof KINDS)[number];
export const KINDS = [
  ...(['list', 'fault', 'service', 'receiver', 'kill', 'start', 'stop', 'backup', 'restore', 'restart'] as const),
  ...(['hangup', 'poll', 'accept', 'password', 'revoke', 'webhook', 'clock', 'busy', 'refuse', 'allow'] as const),
];

/** What happens to a worker: by the service, the network, a person, other programs and the machine. */
export function createActions(stage: Stage, lives: Lives) {
  const { random, world, judge, note } = stage;
  const person = createPerson(stage, lives);
  const other = createOtherProgram(stage, lives);
  let nextId = 1;
  const hasLongRows = random.chance(0.3);
  /** Leagues that left the list, and may come back. */
  const left: Record<string, unknown>[] = [];
  const add = () => makeLeague(`l${nextId++}`, hasLongRows ? { league_image: IMAGE } : {});
  world.setLeagues(Array.from({ length: random.pick(FIRST_LEAGUES) }, add));
  world.switches.set('etag', random.chance(0.5));

  const changeList = (): void => {
    const list = [...world.leagues()];
    for (let count = random.int(1, 6); count > 0; count -= 1) {
      const at = random.int(0, list.length + 1);
      const kind = random.pick(['add', 'change', 'remove', 'return']);
      if (kind === 'return') list.splice(at, 0, left.pop() ?? add());
      else if (kind === 'add' || list[at] === undefined) list.splice(at, 0, add());
      else if (kind === 'remove') left.push(...list.splice(at, 1));
      else list[at] = { ...list[at], priority: random.int(1, 9), league_name: `League ${random.int(1, 99)}` };
    }
    if (random.chance(0.2)) for (const [at, one] of list.entries()) list[at] = { ...one, priority: random.int(1, 99) };
    world.setLeagues(list);
    note(`the list has ${list.length}`);
  };
  const faults = Array.from({ length: FAULTS_A_WORLD }, () => random.pick(FAULTS));
  const switchFault = (): void => {
    const active = world.switches.active();
    const isEnd = active.length >= MOST_FAULTS || (active.length > 0 && random.chance(0.5));
    const name = random.pick(isEnd ? active : faults);
    world.switches.set(name, !isEnd);
    note(`${name} ${isEnd ? 'ends' : 'begins'}`);
  };
  const setNetwork = (party: 'service' | 'receiver'): void => {
    world.network[party] = random.pick(['up', 'up', 'up', 'down', 'slow', 'pausing']);
    note(`the network to the ${party} is ${world.network[party]}`);
  };
  /** Now and then back to before a slot that has just been. */
  const stepClock = async (): Promise<void> => {
    const aheadMs = stage.nextSlot() - stage.elapsed();
    const isBeforeSlot = random.chance(0.3) && aheadMs < 8 * HOUR;
    if (isBeforeSlot) await stage.pass(aheadMs + random.int(1, 4_000), lives.isRunning);
    const ms = isBeforeSlot ? -6_000 : random.pick(CLOCK_STEPS_MS);
    stage.time.step(ms);
    judge.markStep();
    judge.endLife();
    note(`the clock steps by ${ms / 1_000} s`);
    if (random.chance(0.3)) await restart();
    else if (!isBeforeSlot) await lives.show();
    // The worker looks at the clock each second: it makes up for what it missed, and misses no slot right after that.
    await stage.pass(8_000, lives.isRunning, 0);
  };
  const start = (): void => {
    if (lives.isRunning()) return;
    // A worker that may not write its own rows cannot start.
    for (const table of REFUSED.slice(1)) other.allow(table);
    lives.start();
  };
  const end = async (): Promise<void> => {
    if (random.chance(0.5)) await lives.stop();
    else lives.kill();
  };
  const restart = async (): Promise<void> => {
    await end();
    start();
    await stage.time.settle();
  };
  const restoreBackup = async (): Promise<void> => {
    await end();
    // What was in flight may have come.
    await stage.time.settle();
    lives.restore();
  };
  const lastSeq = (): number => judge.lastSeq(lives.path());
  const weighted: readonly (readonly [number, Kind, () => unknown])[] = [
    [20, 'list', changeList],
    [14, 'fault', switchFault],
    [6, 'service', () => setNetwork('service')],
    [4, 'receiver', () => setNetwork('receiver')],
    [3, 'kill', lives.kill],
    [16, 'start', start],
    [2, 'stop', lives.stop],
    [2, 'backup', lives.backUp],
    [2, 'restore', restoreBackup],
    [2, 'restart', restart],
    [4, 'hangup', person.hangUp],
    [3, 'poll', person.askForPoll],
    [3, 'accept', person.acceptRemovals],
    [2, 'password', person.changePassword],
    [2, 'revoke', () => world.tokens.revokeAll()],
    [2, 'webhook', () => person.moveWebhook(random.chance(0.5) ? 'end' : random.int(0, 1 + lastSeq()))],
    [3, 'clock', stepClock],
    [3, 'busy', () => other.occupy(random.int(100, random.pick([90_000, 90_000, 900_000])))],
    [2, 'refuse', () => other.refuse(random.pick(REFUSED))],
    [2, 'allow', () => other.allow(random.pick(REFUSED))],
  ];
  const isEndless = random.chance(0.2);
  const drawn = weighted
    .filter(([, kind]) => !isEndless || !ENDS.includes(kind))
    .flatMap(([weight, kind, action]) => Array.from({ length: weight }, () => ({ kind, action })));
  return {
    /** Does something at random, unless it is of a kind that is left out. */
    act: async (without: readonly Kind[]): Promise<void> => {
      const { kind, action } = random.pick(drawn);
      if (!without.includes(kind)) await action();
      await stage.time.settle();
    },
    /** Ends all that went wrong. */
    makePeace: (): void => {
      note('peace');
      world.switches.clear();
      Object.assign(world.network, { service: 'up', receiver: 'up' });
      for (const table of REFUSED) other.allow(table);
      lives.makePeace();
      if (!lives.isRunning()) lives.start();
    },
    person,
  };
}

/** What an operator does, by the functions of the commands. */
function createPerson({ clock, during, judge, note, random, setPassword }: Stage, lives: Lives) {
  const options = () => ({ clock, stop: new AbortController().signal });
  const isThere = (): boolean => existsSync(lives.path());
  const say = (text: string): void => {
    note(text);
    judge.markPerson();
  };
  return {
    hangUp: (): void => {
      say('SIGHUP');
      if (lives.isRunning()) {
        judge.await('request');
        judge.markAsk();
      }
      judge.expectLogin(lives.isRunning());
      lives.pollNow();
    },
    askForPoll: async (): Promise<void> => {
      if (!isThere()) return;
      say('poll');
      judge.markAsk();
      const request = await during(requestPoll(lives.path(), options()));
      if (request !== undefined && lives.isRunning()) judge.await('request');
      // A request that a worker sees only after 30 s is too old.
      await during(clock.sleep(3_000));
    },
    acceptRemovals: async (): Promise<void> => {
      if (!isThere()) return;
      say('accept-removals');
      // A worker that was killed early has made no tables yet.
      const held = (await during(Promise.resolve().then(() => readHeldRemovals(lives.path())))) ?? [];
      if (held.length === 0) return;
      judge.accept(held.map(({ league_id }) => String(league_id)));
      await during(acceptRemovals(lives.path(), held, options()));
    },
    /** `webhook replay` after a change, or `webhook skip`. */
    moveWebhook: async (to: number | 'end'): Promise<void> => {
      if (!isThere()) return;
      say(`webhook ${to === 'end' ? 'skip' : `replay after ${to}`}`);
      const moved = await during(moveDeliveries(lives.path(), to, options()));
      if (moved !== undefined) judge.moveWebhook(to === 'end' ? moved.lastSeq : to);
    },
    changePassword: (): void => {
      say('the password changes');
      judge.expectLogin(lives.isRunning());
      judge.markDenial();
      setPassword(`password-${random.int(1_000_000, 9_999_999)}`);
    },
  };
}

/** Where writes fail, as on a full disk. */
const REFUSED = ['league_changes', 'runs', 'logins', 'webhook', 'outputs'];

/** Another program that writes to the database. */
function createOtherProgram({ judge, note, pass, random, reader }: Stage, lives: Lives) {
  const open = (): Database.Database | undefined =>
    existsSync(lives.path()) ? new Database(lives.path(), { timeout: 0 }) : undefined;
  const execute = (sql: string, db = open()): void => {
    try {
      db?.exec(sql);
    } catch {
      // The worker is just writing, or has not made the tables yet.
    }
  };
  const once = (sql: string): void => {
    const db = open();
    execute(sql, db);
    db?.close();
  };
  return {
    occupy: async (ms: number): Promise<void> => {
      note(`the database is busy for ${ms} ms`);
      judge.markTrouble();
      const db = open();
      execute('BEGIN IMMEDIATE', db);
      try {
        await pass(ms);
      } finally {
        db?.close();
        judge.markTrouble();
      }
    },
    refuse: (table: string): void => {
      note(`${table} takes nothing`);
      judge.markTrouble(true);
      for (const what of random.pick([['INSERT'], ['UPDATE'], ['INSERT', 'UPDATE']]))
        once(`CREATE TRIGGER IF NOT EXISTS refuse_${table}_${what} BEFORE ${what} ON ${table}
          BEGIN SELECT RAISE(ABORT, 'refused'); END`);
    },
    allow: (table: string): void => {
      const triggers = reader.rows(lives.path(), "SELECT name, tbl_name FROM sqlite_schema WHERE name LIKE 'refuse_%'");
      const ended = triggers.filter(({ tbl_name }) => tbl_name === table);
      for (const { name } of ended) once(`DROP TRIGGER ${name}`);
      judge.markTrouble(ended.length < triggers.length);
    },
  };
}

import { copyFileSync, existsSync, mkdirSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { loadConfig } from '../../../src/config/config.ts';
import { readSettings } from '../../../src/config/environment.ts';
import { DatabaseError, StoppedError } from '../../../src/errors.ts';
import { runWorker } from '../../../src/worker/worker.ts';
import { withDatabase } from '../../support/database.ts';
import type { Stage } from './stage.ts';

/** A stop may take 10 s (contract, 6). */
const LONGEST_STOP_MS = 10_000;

type Life = {
  readonly number: number;
  readonly path: string;
  readonly stopping: AbortController;
  pollNow: () => void;
  /** Whether it was not killed. */
  isAlive: boolean;
  isOver: boolean;
};

export type Lives = ReturnType<typeof createLives>;

/** The workers of one world, one after the other: each begins with the files that the one before has left. */
export function createLives({ settings, folder, world, judge, note, elapsed, during, clock, random }: Stage) {
  const lives: Life[] = [];
  const ends: Promise<void>[] = [];
  let isPeace = false;
  let path = join(folder, '0', 'leagues.db');
  const current = (): Life | undefined => lives.find(({ isOver }) => !isOver);

  const live = async (life: Life): Promise<void> => {
    const config = loadConfig(readSettings({ ...settings(), LEAGUE_SYNC_DATABASE: life.path }), {});
    const write = (line: string): void => {
      if (life.isAlive) judge.read(JSON.parse(line), line);
    };
    await runWorker(config, {
      system: { clock, random: random.next, send: world.sendOf(life.number, () => life.isAlive) },
      log: pino({ level: 'debug' }, { write }),
      pid: life.number + 1,
      signal: life.stopping.signal,
      onPollNow: (pollNow) => {
        life.pollNow = pollNow;
      },
      copy: publish,
      mirror: () => Promise.reject(new Error('nothing is mirrored here')),
    });
  };
  /** As the process that copies, but at once; it fails now and then. */
  const publish = async (from: string, target: string): Promise<void> => {
    if (!isPeace && random.chance(0.2)) throw new DatabaseError('The disk of the copy is full.');
    rmSync(target, { force: true });
    withDatabase(from, (db) => db.prepare('VACUUM INTO ?').run(target), { readonly: true });
    utimesSync(target, clock.now() / 1_000, clock.now() / 1_000);
  };
  return {
    /** From now on, nothing fails. */
    makePeace: (): void => {
      isPeace = true;
    },
    path: () => path,
    isRunning: () => current() !== undefined,
    start: (): void => {
      mkdirSync(dirname(path), { recursive: true });
      const number = lives.length;
      const stopping = new AbortController();
      const life: Life = { number, path, stopping, pollNow: () => undefined, isAlive: true, isOver: false };
      lives.push(life);
      note(`start ${number}`);
      judge.beginLife(path);
      const end = live(life)
        .catch((error: unknown) => {
          if (life.isAlive) judge.fail(`the worker ended: ${String(error)}`);
        })
        .finally(() => {
          life.isOver = true;
        });
      ends.push(end);
    },
    stop: async (): Promise<void> => {
      const life = current();
      if (life === undefined) return;
      note(`stop ${life.number}`);
      const begun = elapsed();
      life.stopping.abort(new StoppedError());
      await during(ends[life.number] ?? Promise.resolve());
      if (elapsed() - begun > LONGEST_STOP_MS) judge.fail(`the stop took ${elapsed() - begun} ms`);
      judge.endLife();
      judge.look(path, true);
    },
    /** Leaves what `kill -9` leaves: the files as they are between two turns of the event loop. */
    kill: (): void => {
      const life = current();
      if (life === undefined) return;
      note(`kill ${life.number}`);
      Object.assign(life, { isAlive: false, isOver: true });
      path = join(folder, String(lives.length), 'leagues.db');
      mkdirSync(dirname(path), { recursive: true });
      for (const suffix of ['', '-wal'])
        if (existsSync(life.path + suffix)) copyFileSync(life.path + suffix, path + suffix);
      life.stopping.abort(new StoppedError());
      judge.endLife();
      judge.look(path, false);
    },
    backUp: (): void => {
      if (!existsSync(path)) return;
      const file = join(folder, 'backup.db');
      rmSync(file, { force: true });
      try {
        withDatabase(path, (db) => db.prepare('VACUUM INTO ?').run(file), { readonly: true });
        judge.backUp(file);
        note('backup');
      } catch {
        // Another program has locked the database.
      }
    },
    /** Puts the backup in the place of the database; no worker may run. */
    restore: (): void => {
      const file = join(folder, 'backup.db');
      if (current() !== undefined || !existsSync(file)) return;
      note('the backup is restored');
      path = join(folder, `restored-${lives.length}`, 'leagues.db');
      mkdirSync(dirname(path), { recursive: true });
      copyFileSync(file, path);
      judge.restore(path);
    },
    /** What SIGHUP does. */
    pollNow: (): void => current()?.pollNow(),
    endAll: async (): Promise<void> => {
      for (const life of lives) {
        life.isAlive = false;
        life.stopping.abort(new StoppedError());
      }
      await during(Promise.all(ends));
    },
  };
}

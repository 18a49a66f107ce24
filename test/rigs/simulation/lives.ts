import { copyFileSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { DatabaseError, StoppedError } from '../../../src/errors.ts';
import type { Log } from '../../../src/log.ts';
import { createApp } from '../../../src/observe/routes.ts';
import type { Monitor } from '../../../src/observe/worker-state.ts';
import { runWorker } from '../../../src/worker/worker.ts';
import { PUBLISHED, type Stage } from './stage.ts';

/** A stop may take 10 s (contract, 6). */
const LONGEST_STOP_MS = 10_000;

type Watched = { readonly monitor: Monitor; readonly log: Log };

/** One app shows all workers of the process, one after the other: the metrics' library never lets go of what it makes. */
let app: ReturnType<typeof createApp> | undefined;
let watched: Watched | undefined;
const follow = <K extends keyof Watched>(part: K): Watched[K] => {
  const call = (name: string | symbol, ...given: unknown[]): unknown =>
    Reflect.apply(Reflect.get(watched?.[part] ?? {}, name), watched?.[part], given);
  return new Proxy({} as Watched[K], { get: (_, name) => call.bind(undefined, name) });
};

type Life = {
  readonly number: number;
  readonly path: string;
  readonly stopping: AbortController;
  pollNow: () => void;
  watched: Watched | undefined;
  /** Whether it was not killed. */
  isAlive: boolean;
  isOver: boolean;
};

export type Lives = ReturnType<typeof createLives>;

/** The workers of one world, one after the other: each begins with the files that the one before has left. */
export function createLives(stage: Stage) {
  const { folder, world, judge, reader, note, elapsed, during, clock, random } = stage;
  const lives: Life[] = [];
  const ends: Promise<void>[] = [];
  /** What the page has said. */
  const said = new Set<string>();
  let isPeace = false;
  let path = join(folder, '0', 'leagues.db');
  const current = (): Life | undefined => lives.find(({ isOver }) => !isOver);

  const live = async (life: Life): Promise<void> => {
    const config = stage.config(life.path);
    const write = (line: string): void => {
      if (!life.isAlive) return;
      if (!life.stopping.signal.aborted) reader.keep(life.path);
      judge.read(JSON.parse(line), line);
    };
    const log = pino({ level: 'debug' }, { write });
    await runWorker(config, {
      system: { clock, random: random.next, send: world.sendOf(life.number, () => life.isAlive) },
      log,
      pid: life.number + 1,
      signal: life.stopping.signal,
      onPollNow: (pollNow) => {
        life.pollNow = pollNow;
      },
      copy: publish,
      mirror: () => Promise.reject(new Error('nothing is mirrored here')),
      serve: async (_, { monitor }) => {
        life.watched = { monitor, log };
        return undefined;
      },
    });
  };
  /** Writes how far the feed has come instead of a copy, and at once; it fails now and then. */
  const publish = async (from: string, target: string): Promise<void> => {
    if (!isPeace && random.chance(0.2)) throw new DatabaseError('The disk of the copy is full.');
    writeFileSync(target, String(judge.lastSeq(from)));
    utimesSync(target, clock.now() / 1_000, clock.now() / 1_000);
  };
  return {
    /** From now on, nothing fails. */
    makePeace: (): void => {
      isPeace = true;
    },
    path: () => path,
    copiedSeq: (): number => Number(readFileSync(join(folder, PUBLISHED), 'utf8')),
    isRunning: () => current() !== undefined,
    start: (): void => {
      mkdirSync(dirname(path), { recursive: true });
      const number = lives.length;
      const stopping = new AbortController();
      const life: Life = {
        ...{ number, path, stopping, isAlive: true, isOver: false },
        ...{ pollNow: () => undefined, watched: undefined },
      };
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
      reader.release();
      life.stopping.abort(new StoppedError());
      await during(ends[life.number] ?? Promise.resolve());
      if (elapsed() - begun > LONGEST_STOP_MS) judge.fail(`the stop took ${elapsed() - begun} ms`);
      judge.endLife();
      reader.keep(path);
      judge.look(path, true);
    },
    /** Leaves what `kill -9` leaves: the files as they are between two turns of the event loop. */
    kill: (): void => {
      const life = current();
      if (life === undefined) return;
      note(`kill ${life.number}`);
      Object.assign(life, { isAlive: false, isOver: true });
      reader.release();
      path = join(folder, String(lives.length), 'leagues.db');
      mkdirSync(dirname(path), { recursive: true });
      for (const suffix of ['', '-wal'])
        if (existsSync(life.path + suffix)) copyFileSync(life.path + suffix, path + suffix);
      life.stopping.abort(new StoppedError());
      judge.kill();
      reader.keep(path);
      judge.look(path, false);
    },
    backUp: (): void => {
      if (!existsSync(path)) return;
      const file = join(folder, 'backup.db');
      reader.copy(path, file);
      judge.backUp();
      note('backup');
    },
    /** Puts the backup in the place of the database; no worker may run. */
    restore: (): void => {
      const file = join(folder, 'backup.db');
      if (current() !== undefined || !existsSync(file)) return;
      note('the backup is restored');
      reader.release();
      path = join(folder, `restored-${lives.length}`, 'leagues.db');
      mkdirSync(dirname(path), { recursive: true });
      copyFileSync(file, path);
      reader.keep(path);
      judge.restore(path);
    },
    /** Has what the worker shows of itself judged. */
    show: async (): Promise<void> => {
      // The worker looks at everything each second.
      await during(clock.sleep(2_000));
      const life = current();
      if (life?.watched === undefined) return;
      watched = life.watched;
      app ??= createApp(follow('monitor'), follow('log'), new AbortController().signal);
      await judge.judgeState(app, said);
    },
    /** What SIGHUP does. */
    pollNow: (): void => current()?.pollNow(),
    endAll: async (): Promise<void> => {
      reader.release();
      for (const life of lives) {
        life.isAlive = false;
        life.stopping.abort(new StoppedError());
      }
      await during(Promise.all(ends));
    },
  };
}

import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

/** The end of a command, and what it printed. */
export type Ended = { readonly code: number; readonly printed: string };

/** What a terminal shows. */
export type Screen = {
  /** Everything so far. */
  readonly text: () => string;
  /** The output since the last command ended. */
  readonly news: () => string;
  /** Marks the start of a command, from which silence is measured. */
  readonly begin: () => void;
  /** The end of the command, if it has ended; returned once. */
  readonly takeEnd: () => Ended | undefined;
  /** The end, or `quiet` if the command has printed something and pauses. */
  readonly settled: () => Ended | 'quiet' | undefined;
};

/** The marker with the exit code that the shell prints after each command. */
const END = /⟦(?<code>\d+)⟧/;
/** The characters of the spinner of npm. */
const WHEEL = /[\u2801-\u28ff]/g;
const QUIET_MS = 1_500;
const LOOK_EVERY_MS = 50;

/** Collects what a terminal shows. */
export function createScreen(source: Readable): Screen {
  let raw = '';
  let lastAt = performance.now();
  let done = 0;
  source.setEncoding('utf8').on('data', (text: string) => {
    raw += text;
    lastAt = performance.now();
  });
  const news = () => clean(raw.slice(done));
  const takeEnd = (): Ended | undefined => {
    const end = END.exec(raw.slice(done));
    if (end === null) return undefined;
    const printed = clean(raw.slice(done, done + end.index));
    done += end.index + end[0].length;
    return { code: Number(end.groups?.code), printed };
  };
  const isQuiet = () => news().trim() !== '' && performance.now() - lastAt > QUIET_MS;
  return {
    text: () => clean(raw),
    news,
    begin: () => {
      lastAt = performance.now();
    },
    takeEnd,
    settled: () => takeEnd() ?? (isQuiet() ? 'quiet' : undefined),
  };
}

/** Polls until `look` returns a value; undefined on timeout. */
export async function eventually<T>(look: () => T | undefined, limitMs: number): Promise<T | undefined> {
  const until = performance.now() + limitMs;
  for (;;) {
    const seen = look();
    if (seen !== undefined || performance.now() > until) return seen;
    await sleep(LOOK_EVERY_MS);
  }
}

function clean(text: string): string {
  const plain = stripVTControlCharacters(text).replaceAll(WHEEL, '').replaceAll('^C', '');
  return plain.replaceAll(/\r+\n/g, '\n').replaceAll('\r', '');
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeScratchFolder } from '../bench/support/scratch.ts';
import { drawRecording, type Piece } from './draw-recording.ts';

// Records docs/demo.svg, the first thing that a reader of the README sees: a demo in the upper half of a terminal, and in
// the lower half somebody who looks at its changes, makes the service drop a third of its leagues, reads what that did,
// and accepts it. Everything is typed and printed as it was; of the time that a program took to begin, what a busy
// machine adds is cut. Needs `script`, part of every Debian, and the usual ports if their numbers are to be seen.

const FILE = 'docs/demo.svg';
/** Node itself cannot make a terminal. */
const SCRIPT = 'script';
const COLUMNS = 80;
/** What a program takes to begin on an idle machine. */
const BEGINS_MS = 300;
const KEY_MS = 16;
const CONTROL_C = '\x03';
const DATABASE = 'demo-data/leagues.db';

const folder = makeScratchFolder(tmpdir());
const variables: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: folder, TERM: 'xterm-256color' };
symlinkSync(resolve('league-sync'), join(folder, 'league-sync'));
const begunAt = performance.now();
/** From when to when nothing is shown. */
const cuts: [fromMs: number, toMs: number][] = [];
const upper: Piece[] = [];
const lower: Piece[] = [];

const demo = await enter(upper, './league-sync demo');
await sleep(1_800);
await type(lower, `export LEAGUE_SYNC_DATABASE=${DATABASE}`);
variables.LEAGUE_SYNC_DATABASE = DATABASE;
await runToEnd('./league-sync changes --limit 4');
await sleep(1_600);
await runToEnd(commandOfTrouble());
await runToEnd('./league-sync poll');
await sleep(700);
await runToEnd('./league-sync status');
await sleep(4_000);
const accepting = await enter(lower, './league-sync accept-removals');
await sleep(1_500);
accepting.stdin?.write('y\n');
await once(accepting, 'exit');
await sleep(2_800);
const endMs = now();
demo.stdin?.write(CONTROL_C);
await once(demo, 'exit');

const withoutCuts = (pieces: readonly Piece[]) => pieces.map(({ atMs, text }) => ({ atMs: shorten(atMs), text }));
const panes = { upper: withoutCuts(upper), lower: withoutCuts(lower) };
writeFileSync(FILE, drawRecording({ ...panes, endMs: shorten(endMs), columns: COLUMNS }));

function shorten(atMs: number): number {
  const cut = cuts.map(([fromMs, toMs]) => Math.max(0, Math.min(atMs, toMs) - fromMs));
  return cut.reduce((shorter, ms) => shorter - ms, atMs);
}

/** What the demo itself advises to try. */
function commandOfTrouble(): string {
  const printed = upper.map(({ text }) => text).join('');
  const [, command] = /trouble\s+(curl .*)\r/.exec(printed) ?? [];
  if (command === undefined) throw new Error(`the demo names no trouble:\n${printed}`);
  return command;
}

async function runToEnd(command: string): Promise<void> {
  const child = await enter(lower, command);
  if (child.exitCode === null) await once(child, 'exit');
}

function show(pane: Piece[], text: string): void {
  pane.push({ atMs: now(), text });
}

function now(): number {
  return performance.now() - begunAt;
}

async function type(pane: Piece[], command: string): Promise<void> {
  show(pane, '$ ');
  for (const key of command) {
    await sleep(KEY_MS);
    show(pane, key);
  }
  await sleep(200);
  show(pane, '\r\n');
}

/** Types the command key by key, and starts it at a terminal of its own. */
async function enter(pane: Piece[], command: string): Promise<ChildProcess> {
  await type(pane, command);
  const child = spawn(SCRIPT, ['-qefc', `stty cols ${COLUMNS} rows 40; exec ${command}`, '/dev/null'], {
    cwd: folder,
    env: variables,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const enteredAt = now();
  child.stdout.setEncoding('utf8').on('data', (text: string) => show(pane, text));
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  if (now() > enteredAt + BEGINS_MS) cuts.push([enteredAt + BEGINS_MS, now() - 1]);
  return child;
}

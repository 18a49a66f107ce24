import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { makeScratchFolder } from '../bench/support/scratch.ts';
import { createHandClock, type HandClock } from '../bench/year/clock.ts';
import { openYearWorker } from '../bench/year/worker.ts';
import { createRandom } from '../src/simulator/churn.ts';
import { createSeasons } from './seasons.ts';

// Takes the pictures of the status page in docs/: `npm run pictures`. The program as shipped shows a year of polls, made
// by the worker of the bench's year and the seasons in seasons.ts, under a clock that is set to the end of that year, so
// that the pictures differ only if the page does. The text is in Inter, Debian's package fonts-inter, because what a
// headless Chromium takes for the font of the system (DejaVu) is what nearly no reader has.

/** What is needed besides Node: each Debian package, and a file of it. */
const NEEDED = {
  chromium: '/usr/bin/chromium',
  'fonts-inter': '/usr/share/fonts/**/Inter*',
  libfaketime: '/usr/lib/*/faketime/libfaketime.so.1',
  pngquant: '/usr/bin/pngquant',
} as const;

const PROGRAM = resolve('dist/league-sync.cjs');
type Picture = { readonly path: string; readonly name: string; readonly width: number; readonly height: number };

/** Somewhat wider than GitHub's column, so that the text is about as large as the README's. */
const README = { width: 1_000, height: 560 };
const WHOLE = { width: 1_280, height: 900 };
/** The name of a picture in docs/. */
const HEALTHY: readonly Picture[] = [
  { path: '/', name: 'status-page', ...README },
  { path: '/changes', name: 'changes-page', ...WHOLE },
  { path: '/leagues', name: 'leagues-page', ...WHOLE },
];
const FAILING: Picture = { path: '/', name: 'failing-page', ...README };
/** What has gone wrong in the picture of a failing worker: a third of the list is missing, then there is no list. */
const FAULTS = ['drop-third', 'down'] as const;
const LOOKS = { light: '', dark: '-dark' } as const;
const PIXELS_PER_POINT = 2;
const COLOURS = 48;
const CUT_BELOW = 10;
/** That of the systemd unit. */
const SHOWN_DATABASE = '/var/lib/league-sync/leagues.db';

const MINUTE_MS = 60_000;
const POLL_EVERY_MS = 5 * MINUTE_MS;
/** As by default: three polls and the time that a run may take. */
const FRESH_FOR_MS = 17 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The end of the year, when the program starts and polls once more. */
const NOW = Date.parse('2026-11-24T15:00:02.000Z');
/** The last outage of the bench's service, which has one every 14 days, is then three hours ago. */
const YEAR_MS = 364 * DAY_MS + 3 * HOUR_MS;
/** Before, polls are an hour apart, which takes less time to make: of older polls only the changes are kept. */
const OFTEN_FOR_MS = 91 * DAY_MS;
/** The profile is polled once in so many polls. */
const PROFILE_EVERY = 100;
/** The port that the documents name. */
const USUAL_PORT = 8080;
const SEED = 1_280;
/** Each poll waits for the disk, on which a year would take hours. */
const IN_MEMORY = '/dev/shm';

const { libfaketime } = findNeeded();
const folder = makeScratchFolder(existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir());
const database = join(folder, 'data/leagues.db');
const list = join(folder, 'leagues.json');
const environment = {
  PATH: process.env.PATH,
  LD_PRELOAD: libfaketime,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
};
const children: ChildProcess[] = [];
const fonts = writeFontSettings();

try {
  mkdirSync(dirname(database));
  await liveThroughTheYear();
  const { page, service, poll } = await startProgram();
  while (!(await (await fetch(page)).text()).includes('Data was fresh')) await sleep(1_000);
  await takePictures(page, HEALTHY);
  for (const fault of FAULTS) {
    await fetch(new URL(`/_faults/${fault}`, service), { method: 'PUT' });
    await poll();
  }
  await takePictures(page, [FAILING]);
} finally {
  await Promise.all(children.map(end));
}

function findNeeded(): Readonly<Record<keyof typeof NEEDED, string>> {
  const found = Object.entries(NEEDED).map(([name, pattern]) => [name, globSync(pattern)[0]] as const);
  const missing = found.flatMap(([name, path]) => (path === undefined ? [name] : []));
  if (missing.length > 0) throw new Error(`The pictures need: apt-get install ${missing.join(' ')}`);
  return Object.fromEntries(found) as Readonly<Record<keyof typeof NEEDED, string>>;
}

/** Fills the database, and leaves the list that the service has at the end. */
async function liveThroughTheYear(): Promise<void> {
  const endsAt = NOW - (NOW % POLL_EVERY_MS);
  const clock = createUnevenClock(endsAt - YEAR_MS);
  const listing = createSeasons(endsAt - YEAR_MS, endsAt);
  // A new field changes every league, so that the page would show little else.
  const service = { conditional: true, listing, without: ['new field'] } as const;
  await using worker = await openYearWorker(database, { clock, freshForMs: FRESH_FOR_MS, ...service });
  let at = endsAt - YEAR_MS;
  for (let polls = 0; at < endsAt; polls += 1) {
    clock.advanceTo(at);
    await worker.poll();
    if (polls % PROFILE_EVERY === 0) await worker.pollProfile();
    await worker.look();
    at += endsAt - at > OFTEN_FOR_MS ? HOUR_MS : POLL_EVERY_MS;
  }
  writeFileSync(list, JSON.stringify(listing(endsAt).leagues));
}

/** A clock on which what the service does takes now more time and now less; the bench's service always takes the same. */
function createUnevenClock(beganAt: number): HandClock {
  const clock = createHandClock(beganAt);
  const random = createRandom(SEED);
  return { ...clock, advance: (ms) => clock.advance(Math.round(ms * (0.6 - Math.log(1 - random()) / 2))) };
}

/** Starts the simulated service and the worker, and resolves with their addresses after the first poll. */
async function startProgram() {
  // Of one offset, rather than each from a start of its own: the clocks of both must agree.
  const FAKETIME = `${NOW < Date.now() ? '-' : '+'}${Math.abs(NOW - Date.now()) / 1_000}`;
  const port = String((await isFree(USUAL_PORT)) ? USUAL_PORT : 0);
  const service = await start(['simulate', '--port', port, '--leagues', list], { FAKETIME }, ({ url }) => url);
  const env = {
    FAKETIME,
    LEAGUE_SYNC_BASE_URL: service,
    LEAGUE_SYNC_USERNAME: 'player',
    LEAGUE_SYNC_PASSWORD: 'secret-password',
    LEAGUE_SYNC_LISTEN: '127.0.0.1:0',
  };
  // The year was lived with another address of the service.
  const moved = spawnSync(process.execPath, [PROGRAM, 'sync', '--service-moved'], {
    cwd: folder,
    env: { ...environment, ...env },
  });
  if (moved.status !== 0) throw new Error(`league-sync sync failed: ${moved.stderr}`);
  let page: unknown;
  await start(['run'], env, (line) => {
    page = line.url ?? page;
    return line.kind === 'profile' ? line.outcome : undefined;
  });
  const poll = async (): Promise<void> => {
    const asked = spawn(process.execPath, [PROGRAM, 'poll'], {
      cwd: folder,
      env: { ...environment, FAKETIME },
      // What it says of a failed poll is what the picture is to show.
      stdio: 'ignore',
    });
    await once(asked, 'exit');
  };
  return { page: String(page), service, poll };
}

type Line = Readonly<Record<string, unknown>>;

/** Starts the program and resolves with what `find` finds in a line of its log. */
async function start(args: readonly string[], env: NodeJS.ProcessEnv, find: (line: Line) => unknown): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env: { ...environment, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const found = find(JSON.parse(line) as Line);
    if (found === undefined) continue;
    child.stdout.resume();
    return String(found);
  }
  throw new Error(`league-sync ${args[0]} ended early`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

async function takePictures(url: string, pictures: readonly Picture[]): Promise<void> {
  const browser = await chromium.launch({
    executablePath: NEEDED.chromium,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    env: { ...process.env, HOME: folder, FONTCONFIG_FILE: fonts },
  });
  try {
    for (const picture of pictures)
      for (const look of ['light', 'dark'] as const) await takePicture(browser, url, picture, look);
  } finally {
    await browser.close();
  }
}

async function takePicture(
  browser: Browser,
  url: string,
  { path, name, width, height }: Picture,
  look: keyof typeof LOOKS,
): Promise<void> {
  const context = await browser.newContext({
    viewport: { width, height },
    deviceScaleFactor: PIXELS_PER_POINT,
    colorScheme: look,
  });
  const page = await context.newPage();
  await page.goto(new URL(path, url).href, { waitUntil: 'networkidle' });
  // The folder of this very run is nobody's.
  await page.evaluate(`for (const code of document.querySelectorAll('code'))
    code.textContent = code.textContent.replace(${JSON.stringify(database)}, ${JSON.stringify(SHOWN_DATABASE)})`);
  const clip = { x: 0, y: 0, width, height: width === README.width ? await findCut(page, height) : height };
  writeFileSync(`docs/${name}${LOOKS[look]}.png`, reduceColours(await page.screenshot({ clip })));
  await context.close();
}

/** Where a picture may end without cutting through the verdict or a change. */
async function findCut(page: Page, height: number): Promise<number> {
  const boxes = await Promise.all((await page.locator('.state, .feed li').all()).map((part) => part.boundingBox()));
  // What is hidden has no box.
  const ends = boxes.flatMap((box) => (box === null ? [] : [Math.ceil(box.y + box.height) + CUT_BELOW]));
  return Math.max(Math.min(...ends), ...ends.filter((end) => end <= height));
}

/** A third of the size, and no difference that can be seen: the page has few colours. */
function reduceColours(png: Buffer): Buffer {
  const args = ['--speed', '1', '--nofs', '--strip', String(COLOURS), '-'];
  const { status, stdout, stderr } = spawnSync(NEEDED.pngquant, args, { input: png, maxBuffer: 2 ** 24 });
  if (status !== 0) throw new Error(`pngquant failed: ${stderr}`);
  return stdout;
}

/** The settings of fontconfig by which the font of the system is Inter. */
function writeFontSettings(): string {
  const alias = (family: string) => `<match target="pattern"><test name="family"><string>${family}</string></test>
<edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>`;
  const file = join(folder, 'fonts.conf');
  mkdirSync(join(folder, 'fonts'));
  writeFileSync(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<include>/etc/fonts/fonts.conf</include><cachedir>${join(folder, 'fonts')}</cachedir>
${['system-ui', 'sans-serif'].map(alias).join('\n')}</fontconfig>`,
  );
  return file;
}

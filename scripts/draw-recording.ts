// Draws the recording of a terminal as an SVG that moves by itself: without a script, in the colours of a light or a dark
// page, and, for people who want no motion, as the picture of its end.

/** What a program printed, or a person typed, at a time after the start. */
export type Piece = { readonly atMs: number; readonly text: string };

type Recording = {
  readonly upper: readonly Piece[];
  readonly lower: readonly Piece[];
  readonly endMs: number;
  readonly columns: number;
};

/** Characters that appeared at one time, in one colour; `tone` is the number of an SGR sequence. */
type Run = {
  readonly atMs: number;
  readonly row: number;
  readonly column: number;
  readonly tone: string;
  text: string;
};

/** Nothing is there at the very beginning. */
const FIRST_MS = 20;
const UPPER_ROWS = 8;
const LOWER_ROWS = 30;
const [WIDTH, HEIGHT, SIZE, MARGIN] = [8.4, 19, 14, 14];
/** The classes of the colours that the program uses; bold, as any other, is printed plainly. */
const TONES: Readonly<Record<string, string>> = {
  '2': 'dim',
  '31': 'red',
  '32': 'green',
  '33': 'yellow',
  '36': 'cyan',
};

const STYLE = `svg{--ground:#fff;--edge:#d1d9e0;--text:#1f2328;--dim:#59636e;--red:#cf222e;--green:#1a7f37;--yellow:#8a5a00;--cyan:#0a7585}
@media(prefers-color-scheme:dark){svg{--ground:#0d1117;--edge:#3d444d;--text:#f0f6fc;--dim:#9198a1;--red:#f85149;--green:#3fb950;--yellow:#d29922;--cyan:#39c5cf}}
text{font:${SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--text);white-space:pre}
.dim{fill:var(--dim)}.red{fill:var(--red)}.green{fill:var(--green)}.yellow{fill:var(--yellow)}.cyan{fill:var(--cyan)}
.ground{fill:var(--ground)}.edge{stroke:var(--edge);fill:none}`;

export function drawRecording({ upper, lower, endMs, columns }: Recording): string {
  const width = Math.ceil(columns * WIDTH + 2 * MARGIN);
  const split = UPPER_ROWS * HEIGHT + 1.5 * MARGIN;
  const height = split + LOWER_ROWS * HEIGHT + 1.5 * MARGIN;
  const frames = createFrames(endMs);
  const untilEnd = (pieces: readonly Piece[]) =>
    lay(
      pieces.filter(({ atMs }) => atMs < endMs),
      columns,
    );
  const panes = [
    drawPane('upper', untilEnd(upper), { top: MARGIN, rows: UPPER_ROWS, width, frames }),
    drawPane('lower', untilEnd(lower), { top: split + MARGIN / 2, rows: LOWER_ROWS, width, frames }),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>A demo of league-sync at a terminal</title>
<style>${STYLE}
@media(prefers-reduced-motion:no-preference){${frames.css()}}</style>
<rect class="ground" width="${width}" height="${height}" rx="8"/>
${panes.join('\n')}
<path class="edge" d="M0 ${split}H${width}"/><rect class="edge" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
</svg>
`;
}

/** The rules by which something begins at its time in each round. */
function createFrames(endMs: number) {
  const rules = new Map<string, string>();
  const percent = (atMs: number): string => `${Number(((Math.min(atMs, endMs) / endMs) * 100).toFixed(2))}%`;
  const play = (name: string) => `.${name}{animation:${name} ${(endMs / 1_000).toFixed(1)}s step-end infinite}`;
  return {
    /** The class of what appears at a time. */
    appear: (atMs: number): string => {
      const at = percent(Math.max(FIRST_MS, atMs));
      const name = `t${at.replace('.', '-').replace('%', '')}`;
      rules.set(name, `@keyframes ${name}{0%{opacity:0}${at}{opacity:1}}${play(name)}`);
      return name;
    },
    /** Moves a pane up as its last row grows. */
    scroll: (name: string, steps: readonly (readonly [atMs: number, y: number])[]): void => {
      // What is printed at once moves it once.
      const stops = new Map([['0%', 0], ...steps.map(([atMs, y]): [string, number] => [percent(atMs), -y])]);
      const moves = [...stops].map(([at, y]) => `${at}{transform:translateY(${y}px)}`);
      rules.set(name, `@keyframes ${name}{${moves.join('')}}${play(name)}`);
    },
    css: (): string => [...rules.values()].join('\n'),
  };
}

type Place = {
  readonly top: number;
  readonly rows: number;
  readonly width: number;
  readonly frames: ReturnType<typeof createFrames>;
};

function drawPane(name: string, runs: readonly Run[], { top, rows, width, frames }: Place): string {
  const texts = runs.map(({ atMs, row, column, tone, text }) => {
    const place = `x="${(MARGIN + column * WIDTH).toFixed(1)}" y="${(row + 0.75) * HEIGHT}"`;
    const length = `textLength="${(text.length * WIDTH).toFixed(1)}"`;
    return `<text class="${`${frames.appear(atMs)} ${tone}`.trim()}" ${place} ${length}>${escapeMarkup(text)}</text>`;
  });
  const steps: [number, number][] = [];
  for (const { atMs, row } of runs) {
    const y = Math.max(0, row + 1 - rows) * HEIGHT;
    if (y > (steps.at(-1)?.[1] ?? 0)) steps.push([atMs, y]);
  }
  frames.scroll(name, steps);
  const end = steps.at(-1)?.[1] ?? 0;
  return `<svg y="${top}" width="${width}" height="${rows * HEIGHT}"><title>The ${name} half</title><g class="${name}" transform="translate(0 ${-end})">
${texts.join('\n')}
</g></svg>`;
}

/** Lays out what was printed in rows and columns, as the terminal did. */
function lay(pieces: readonly Piece[], columns: number): readonly Run[] {
  const runs: Run[] = [];
  let [row, column, tone] = [0, 0, ''];
  for (const { atMs, text } of pieces) {
    for (const [token, sequence] of withoutProgress(text).matchAll(/\p{Cc}\[([\d;]*)m|\r\n|[^\p{Cc}]/gu)) {
      if (sequence !== undefined) tone = TONES[sequence] ?? '';
      else if (token === '\r\n' || column === columns) [row, column] = [row + 1, 0];
      if (sequence !== undefined || token === '\r\n') continue;
      const last = runs.at(-1);
      const goesOn = last?.atMs === atMs && last.row === row && last.tone === tone;
      if (goesOn) last.text += token;
      else runs.push({ atMs, row, column, tone, text: token });
      column += 1;
    }
  }
  return runs.flatMap((run) => splitAtGaps(run)).filter(({ text }) => text !== '');
}

/** A line that a command rewrites while it works. */
function withoutProgress(text: string): string {
  return text.replaceAll(/\r[^\r\n]*\p{Cc}\[K/gu, '').replaceAll(/\p{Cc}\[K/gu, '');
}

/** Columns of a table keep their place whatever the font does with spaces. */
function splitAtGaps(run: Run): readonly Run[] {
  return [...run.text.matchAll(/\S+(?: \S+)*/g)].map(({ index, 0: text }) => ({
    ...run,
    column: run.column + index,
    text,
  }));
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

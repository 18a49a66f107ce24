type Tick = { readonly value: number; readonly isMinor: boolean };
type Axis = { readonly at: (value: number) => number; readonly ticks: readonly Tick[] };
/** Makes an axis for these values between two positions in the picture. */
type MakeAxis = (values: readonly number[], begin: number, end: number) => Axis;

/** A line of points, each x and y. */
export type Line = { readonly name: string; readonly points: readonly (readonly [number, number])[] };
export type Drawing = {
  readonly title: string;
  readonly subtitle?: string;
  readonly x: string;
  readonly y: string;
  /** The type of both axes; logarithmic by default. */
  readonly makeAxis?: MakeAxis;
};

const [WIDTH, HEIGHT] = [720, 420];
const AREA = { left: 70, right: 150, top: 62, bottom: 55 };
/** Readable on white and on black (palette of Okabe and Ito); lines also differ by their markers. */
const COLOURS = ['#0f8f70', '#d55e00', '#5b8fd9', '#b06a9c'];
const DASHES = ['', '6 3', '2 3', '8 3 2 3'];
/** The minimum distance between the names of lines. */
const LINE_HEIGHT = 16;

const STYLE = `text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-size: 15px; font-weight: 600 }
.grid { stroke: #d0d7de } .minor { opacity: 0.35 } .axis { stroke: #57606a }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .grid { stroke: #3d444d } .axis { stroke: #9198a1 } }`;

/** Lines over two axes, as SVG that follows the reader's choice of light or dark. */
export function drawLines(lines: readonly Line[], { title, subtitle = '', x, y, makeAxis = logAxis }: Drawing): string {
  const points = lines.flatMap((line) => line.points);
  const across = makeAxis(
    points.map(([value]) => value),
    AREA.left,
    WIDTH - AREA.right,
  );
  const up = makeAxis(
    points.map(([, value]) => value),
    HEIGHT - AREA.bottom,
    AREA.top,
  );
  const middle = (AREA.left + WIDTH - AREA.right) / 2;
  const half = (AREA.top + HEIGHT - AREA.bottom) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img">`,
    `<title>${title}</title>`,
    `<style>${STYLE}</style>`,
    `<text class="title" x="${AREA.left}" y="26">${title}</text>`,
    `<text x="${AREA.left}" y="46">${subtitle}</text>`,
    ...across.ticks.map(({ value, isMinor }) => upright(across.at(value), value, isMinor)),
    ...up.ticks.map(({ value, isMinor }) => level(up.at(value), value, isMinor)),
    `<path class="axis" fill="none" d="M${AREA.left} ${AREA.top}V${HEIGHT - AREA.bottom}H${WIDTH - AREA.right}"/>`,
    `<text x="${middle}" y="${HEIGHT - 12}" text-anchor="middle">${x}</text>`,
    `<text transform="translate(18 ${half}) rotate(-90)" text-anchor="middle">${y}</text>`,
    ...lines.map((line, index) => drawLine(line, index, across, up)),
    ...nameLines(lines, across, up),
    '</svg>\n',
  ].join('\n');
}

function upright(at: number, value: number, isMinor: boolean): string {
  const line = `<line class="grid${isMinor ? ' minor' : ''}" x1="${at}" x2="${at}" y1="${AREA.top}" y2="${HEIGHT - AREA.bottom}"/>`;
  return isMinor
    ? line
    : `${line}<text x="${at}" y="${HEIGHT - AREA.bottom + 18}" text-anchor="middle">${label(value)}</text>`;
}

function level(at: number, value: number, isMinor: boolean): string {
  const line = `<line class="grid${isMinor ? ' minor' : ''}" x1="${AREA.left}" x2="${WIDTH - AREA.right}" y1="${at}" y2="${at}"/>`;
  return isMinor ? line : `${line}<text x="${AREA.left - 8}" y="${at + 4}" text-anchor="end">${label(value)}</text>`;
}

/** Formats a value without floating-point noise. */
function label(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US');
}

function drawLine({ points }: Line, index: number, across: Axis, up: Axis): string {
  const colour = COLOURS[index % COLOURS.length];
  const places = points.map(([x, y]) => [across.at(x).toFixed(1), up.at(y).toFixed(1)] as const);
  const path = places.map(([x, y]) => `${x},${y}`).join(' ');
  const marks = places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3.5" fill="${colour}"/>`).join('');
  const dash = DASHES[index % DASHES.length];
  return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>${marks}`;
}

/** Places each name beside the last point of its line, without overlaps. */
function nameLines(lines: readonly Line[], across: Axis, up: Axis): readonly string[] {
  const lowest = new Map<number, number>();
  return lines
    .map(({ name, points }) => ({ name, x: across.at(points.at(-1)?.[0] ?? 1), y: up.at(points.at(-1)?.[1] ?? 1) }))
    .toSorted((one, other) => one.y - other.y)
    .map(({ name, x, y }) => {
      const at = Math.max(y, (lowest.get(x) ?? Number.NEGATIVE_INFINITY) + LINE_HEIGHT);
      lowest.set(x, at);
      return `<text x="${x + 10}" y="${at + 4}">${name}</text>`;
    });
}

/** A linear axis has about so many steps. */
const STEPS = 6;

/** From the power of ten below the minimum to the one above the maximum; all values are above 0. */
const logAxis: MakeAxis = (values, begin, end) => {
  const from = Math.floor(Math.log10(Math.min(...values)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))));
  const powers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const all = powers.flatMap((power) => [1, 2, 5].map((digit) => ({ value: digit * 10 ** power, isMinor: digit > 1 })));
  return {
    at: (value) => begin + ((Math.log10(value) - from) / (to - from)) * (end - begin),
    ticks: all.filter(({ value }) => value <= 10 ** to),
  };
};

/** From 0 to the maximum, in steps of 1, 2 or 5 times a power of ten; no value is below 0. */
export const linearAxis: MakeAxis = (values, begin, end) => {
  const most = Math.max(...values);
  const power = 10 ** Math.floor(Math.log10(most / STEPS));
  const step = power * ([1, 2, 5].find((digit) => digit * power >= most / STEPS) ?? 10);
  const steps = Math.ceil(most / step);
  return {
    at: (value) => begin + (value / (steps * step)) * (end - begin),
    ticks: Array.from({ length: steps + 1 }, (_, index) => ({ value: index * step, isMinor: false })),
  };
};

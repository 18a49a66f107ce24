/** A line of points, each x and y. */
export type Line = { readonly name: string; readonly points: readonly Point[] };
export type Point = readonly [x: number, y: number];

/** A chart as data, so that its picture can be drawn again without measuring again. The first line stands out. */
export type Chart = {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  /** Of both axes. A linear axis begins at 0. */
  readonly scale: 'logarithmic' | 'linear';
  readonly lines: readonly Line[];
};

type Tick = { readonly value: number; readonly hasLabel: boolean };
type Axis = { readonly at: (value: number) => number; readonly ticks: readonly Tick[] };
/** Makes an axis for these values between two positions in the picture. */
type MakeAxis = (values: readonly number[], begin: number, end: number) => Axis;

/** Few units, so that text is large enough when a phone shows the picture at half of its width. */
const [WIDTH, HEIGHT] = [640, 460];
const FONT_SIZE = 17;
/** The width of a character in a font that is wider than most. */
const CHARACTER = FONT_SIZE * 0.58;
const AREA = { left: 76, right: 24, top: 60, bottom: 64 };
const [LEFT, RIGHT, TOP, BOTTOM] = [AREA.left, WIDTH - AREA.right, AREA.top, HEIGHT - AREA.bottom] as const;
/** Without colours the lines can be told apart by their dashes. */
const DASHES = ['', '7 4', '2 4', '9 3 2 3'];
const RADIUS = 4;

/**
 * The picture has a ground of its own: in an `<img>` the scheme is that of the reader's system, which the page around
 * it may not follow. The colours (of Okabe and Ito, in two brightnesses) have a contrast of at least 3 on their ground.
 */
const STYLE = `svg { --ground: #fff; --text: #24292f; --muted: #57606a; --grid: #d8dee4; --a: #0a7257; --b: #b94a00; --c: #2f6fc4; --d: #9a4f86 }
@media (prefers-color-scheme: dark) { svg { --ground: #0d1117; --text: #e6edf3; --muted: #9198a1; --grid: #2d343d; --a: #35c69d; --b: #f08a45; --c: #79aef0; --d: #d394c1 } }
text { font: ${FONT_SIZE}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: var(--muted) }
.title { font-size: 19px; font-weight: 600; fill: var(--text) }
.ground { fill: var(--ground) } .grid { stroke: var(--grid) } .minor { opacity: 0.5 } .axis { stroke: var(--muted); fill: none }
.line { fill: none; stroke-width: 1.75 } .first { stroke-width: 3; font-weight: 600 }
.name { paint-order: stroke; stroke: var(--ground); stroke-width: 5px; stroke-linejoin: round }
${['a', 'b', 'c', 'd'].map((key) => `.line.${key} { stroke: var(--${key}) } circle.${key}, .name.${key} { fill: var(--${key}) }`).join('\n')}`;

/** Draws lines over two axes, as SVG that is light or dark like the reader's system. */
export function drawChart({ title, x, y, scale, lines }: Chart): string {
  const makeAxis = scale === 'linear' ? linearAxis : logAxis;
  const points = lines.flatMap((line) => line.points);
  const xs = points.map(([value]) => value);
  const across = makeAxis(xs, LEFT, RIGHT);
  // A logarithmic axis has no natural beginning: its lowest and highest points keep away from the edges.
  const margin = scale === 'linear' ? 0 : FONT_SIZE;
  const up = makeAxis(
    points.map(([, value]) => value),
    BOTTOM - margin,
    TOP + margin,
  );
  const placed = lines.map((line) => ({
    name: line.name,
    places: line.points.map(([a, b]) => [across.at(a), up.at(b)] as const),
  }));
  const unit = scale === 'linear' ? y : `${y}, logarithmic`;
  // The first line last: it is above the others.
  const drawn = placed.map(({ places }, index) => drawLine(places, index)).toReversed();
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img">`,
    `<title>${title}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${HEIGHT}" rx="8"/>`,
    `<text class="title" x="16" y="30">${title} <tspan fill="var(--muted)" font-weight="400" font-size="${FONT_SIZE}">(${unit})</tspan></text>`,
    ...across.ticks.map((tick) => drawUpright(across.at(tick.value), tick)),
    ...up.ticks.map((tick) => drawLevel(up.at(tick.value), tick)),
    `<path class="axis" d="M${LEFT} ${BOTTOM}H${RIGHT}"/>`,
    `<text x="${(LEFT + RIGHT) / 2}" y="${HEIGHT - 14}" text-anchor="middle">${x}</text>`,
    ...drawn,
    ...nameLines(placed),
    '</svg>\n',
  ].join('\n');
}

function drawUpright(at: number, { value, hasLabel }: Tick): string {
  const line = `<line class="grid${hasLabel ? '' : ' minor'}" x1="${round(at)}" x2="${round(at)}" y1="${TOP}" y2="${BOTTOM}"/>`;
  const text = label(value);
  // The last label ends before the picture does.
  const middle = Math.min(at, WIDTH - 4 - (text.length * CHARACTER) / 2);
  return hasLabel ? `${line}<text x="${round(middle)}" y="${BOTTOM + 22}" text-anchor="middle">${text}</text>` : line;
}

function drawLevel(at: number, { value, hasLabel }: Tick): string {
  const line = `<line class="grid${hasLabel ? '' : ' minor'}" x1="${LEFT}" x2="${RIGHT}" y1="${round(at)}" y2="${round(at)}"/>`;
  return hasLabel
    ? `${line}<text x="${LEFT - 10}" y="${round(at + 6)}" text-anchor="end">${label(value)}</text>`
    : line;
}

/** Formats a value without floating-point noise. */
function label(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US');
}

function round(position: number): number {
  return Number(position.toFixed(1));
}

function classOf(index: number): string {
  return `${'abcd'[index % DASHES.length]}${index === 0 ? ' first' : ''}`;
}

function drawLine(places: readonly Point[], index: number): string {
  const path = places.map(([x, y]) => `${round(x)},${round(y)}`).join(' ');
  const marks = places.map(
    ([x, y]) => `<circle class="${classOf(index)}" cx="${round(x)}" cy="${round(y)}" r="${RADIUS}"/>`,
  );
  const dash = DASHES[index % DASHES.length];
  return `<polyline class="line ${classOf(index)}" points="${path}" stroke-dasharray="${dash}"/>${marks.join('')}`;
}

type Placed = { readonly name: string; readonly places: readonly Point[] };
type Box = { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number };

/** Between a name and its line. */
const GAP = 10;
/** A name as far from all other lines as this is far enough. */
const FAR = 60;

/** Puts each name beside its line, as far from all other lines as it can be, and within the axes. */
function nameLines(lines: readonly Placed[]): readonly string[] {
  const taken: Point[] = [];
  return lines.map((line, index) => {
    const others = [...lines.filter((other) => other !== line).flatMap(({ places }) => walk(places)), ...taken];
    const own = walk(line.places);
    const width = line.name.length * CHARACTER;
    // From the end of the line: of places that are equally good, the last one wins.
    const boxes = own.toReversed().flatMap((place) => boxesAround(place, width));
    const free = boxes.filter(
      (box) => isWithinAxes(box) && [own, others].every((points) => distance(box, points) >= GAP / 2),
    );
    const box = free.reduce<Box | undefined>((best, next) => {
      const room = (it: Box): number => Math.min(FAR, distance(it, others));
      return best === undefined || room(next) > room(best) ? next : best;
    }, undefined);
    if (box === undefined) throw new Error(`there is no place for the name "${line.name}" in the chart`);
    const middle = (box.left + box.right) / 2;
    for (let x = box.left; x <= box.right; x += FONT_SIZE / 2) taken.push([x, box.top], [x, box.bottom]);
    return `<text class="name ${classOf(index)}" x="${round(middle)}" y="${round(box.bottom - 3)}" text-anchor="middle">${line.name}</text>`;
  });
}

/** Points along a line, close to each other. */
function walk(places: readonly Point[]): readonly Point[] {
  return places.flatMap(([x1, y1], index) => {
    const [x0, y0] = places[index - 1] ?? [x1, y1];
    const steps = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / RADIUS));
    return Array.from({ length: steps }, (_, step): Point => {
      const share = (step + 1) / steps;
      return [x0 + share * (x1 - x0), y0 + share * (y1 - y0)];
    });
  });
}

/** The boxes for a name above and below a point of its line. */
function boxesAround([x, y]: Point, width: number): readonly Box[] {
  return [-1, 1].flatMap((side) =>
    [1, 0.5, 0].map((share) => {
      const left = x - share * width;
      const middle = y + side * (GAP + FONT_SIZE / 2);
      return { left, right: left + width, top: middle - FONT_SIZE / 2, bottom: middle + FONT_SIZE / 2 };
    }),
  );
}

function isWithinAxes({ left, right, top, bottom }: Box): boolean {
  return left >= LEFT && right <= RIGHT && top >= TOP && bottom <= BOTTOM - GAP / 2;
}

/** From the box to the nearest of the points; 0 if one is in it. */
function distance({ left, right, top, bottom }: Box, points: readonly Point[]): number {
  const distances = points.map(([x, y]) =>
    Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom)),
  );
  return Math.min(...distances);
}

/** An axis has about so many steps. */
const STEPS = 7;
const DIGITS = [1, 2, 5];

/** No wider than the values, which are all above 0. Labels are at powers of ten, and at the highest value. */
const logAxis: MakeAxis = (values, begin, end) => {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const powers = Array.from({ length: 40 }, (_, index) => index - 20);
  const all = powers.flatMap((power) =>
    DIGITS.map((digit) => ({ value: Number(`${digit}e${power}`), isPower: digit === 1 })),
  );
  const ticks = all.filter(({ value }) => value >= least && value <= most);
  return {
    at: (value) => begin + (Math.log(value / least) / Math.log(most / least)) * (end - begin),
    ticks: ticks.map(({ value, isPower }) => ({ value, hasLabel: isPower || value === most || ticks.length <= STEPS })),
  };
};

/** From 0 to the maximum, in steps of 1, 2 or 5 times a power of ten; no value is below 0. */
const linearAxis: MakeAxis = (values, begin, end) => {
  const most = Math.max(...values);
  const power = 10 ** Math.floor(Math.log10(most / STEPS));
  const step = power * (DIGITS.find((digit) => digit * power >= most / STEPS) ?? 10);
  const steps = Math.ceil(most / step);
  return {
    at: (value) => begin + (value / (steps * step)) * (end - begin),
    ticks: Array.from({ length: steps + 1 }, (_, index) => ({ value: index * step, hasLabel: true })),
  };
};

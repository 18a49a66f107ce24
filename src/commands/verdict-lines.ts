import { formatAge } from '../duration.ts';
import type { Verdict } from '../observe/verdict.ts';
import { type Paint, type Tone, visible } from '../terminal/style.ts';
import { hang, NO_BREAK } from '../terminal/table.ts';
import type { Standing } from './standing.ts';

const TONES: Readonly<Record<Verdict['state'], Tone>> = {
  good: 'good',
  warning: 'warning',
  loading: 'plain',
  bad: 'bad',
};
const NO_WORKER = `no worker runs: nothing new is fetched until one is started with league-sync${NO_BREAK}run`;

type Drawing = { readonly columns: number; readonly paint: Paint };

/** The verdict in one line; below it in a line of its own that no worker runs, and why the data is not ready. */
export function describeVerdict(standing: Standing, { columns, paint }: Drawing): readonly string[] {
  const tone = TONES[standing.state];
  const noWorker = standing.worker.state === 'none' ? hang('  ', NO_WORKER, columns) : [];
  return [
    ...hang('● ', headlineOf(standing), columns).map((line) => paint(tone, line)),
    ...noWorker.map((line) => paint('warning', line)),
    ...standing.reasons.flatMap(({ message }) => hang('  ', visible(message), columns)),
  ];
}

/** The headline as one of several parts, which begin with a small letter. */
function headlineOf({ headline, reasons, freshness }: Standing): string {
  const { live_leagues: leagues, age_seconds: age } = freshness;
  // What is stale has its age in the headline already.
  const isAged = age !== null && reasons[0]?.reason !== 'stale';
  const parts = [
    headline.charAt(0).toLowerCase() + headline.slice(1),
    ...(age === null ? [] : [leagues === 1 ? '1 league' : `${leagues} leagues`]),
    ...(isAged ? [`synced ${formatAge(age * 1_000)}`] : []),
  ];
  // A line ends before a part, not within one.
  return parts.map((part, index) => (index === 0 ? part : `·${NO_BREAK}${part.replaceAll(' ', NO_BREAK)}`)).join(' ');
}

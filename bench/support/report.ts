import type { Findings, Goal, Part } from '../part.ts';
import { formatNumber, formatSpread, markdownTable, median, NO_FIGURE, paragraph } from './statistics.ts';

export type Measured = { readonly part: Part; readonly findings: Findings };

type Report = { readonly machine: string; readonly rounds: number; readonly withPictures: boolean };

/** All that was measured, as one document. */
export function writeReport(measured: readonly Measured[], { machine, rounds, withPictures }: Report): string {
  const sections = measured.flatMap(({ part, findings: { title = part.title, text, pictures = [] } }) => [
    `## ${title}`,
    text,
    ...(withPictures ? pictures.map(({ file, alt }) => `![${alt}](${file})`) : []),
  ]);
  return `${['# Results', about(rounds), machine, '## Goals', tellGoals(measured), ...sections].join('\n\n')}\n`;
}

function about(rounds: number): string {
  const figures =
    rounds === 1
      ? 'of one round'
      : `medians of ${rounds} rounds, or of fewer where a part says so, and in parentheses the least and the most`;
  return paragraph(
    `Written by \`npm run bench\`; [README.md](README.md) says how it measures. Figures are ${figures}.`,
  );
}

/** The goals of these parts in one table, and why some are not judged. */
export function tellGoals(measured: readonly Measured[]): string {
  const rows = measured.flatMap(({ findings }) =>
    findings.goals.map((goal) => [
      goal.what,
      withUnit(formatSpread(goal.values), goal.unit),
      ...(findings.unjudged === undefined ? judge(goal) : ['', '', '']),
    ]),
  );
  const table = markdownTable(['what', 'measured', 'must', 'aim', 'holds'], rows);
  return [table, ...measured.flatMap(({ findings: { unjudged = [] } }) => unjudged)].join('\n\n');
}

function withUnit(figure: string, unit: string): string {
  return figure === NO_FIGURE ? figure : `${figure} ${unit}`;
}

function judge({ values, unit, must, aim }: Goal): readonly string[] {
  const limit = (most: number | undefined): string => (most === undefined ? '' : `${formatNumber(most)} ${unit}`);
  return [limit(must), limit(aim), holds(median(values), must, aim)];
}

function holds(value: number, must: number, aim: number | undefined): string {
  // NaN fails the goal, too.
  if (!(value >= 0 && value <= must)) return '**no**';
  return aim !== undefined && value <= aim ? 'yes, the aim too' : 'yes';
}

import type { Findings, Goal, Part } from '../part.ts';
import { markdownTable, paragraph } from './markdown.ts';
import { formatNumber, formatSpread, median } from './statistics.ts';

export type Measured = { readonly part: Part; readonly findings: Findings };

/** All that was measured, as one document. */
export function writeReport(measured: readonly Measured[], machine: string, rounds: number): string {
  const goals = measured.flatMap(({ findings }) => findings.goals);
  const sections = measured.map(({ part, findings }) => `## ${part.title}\n\n${findings.text}`);
  return `${['# Results', about(rounds), machine, '## Goals', goalTable(goals), ...sections].join('\n\n')}\n`;
}

function about(rounds: number): string {
  const often = rounds === 1 ? 'of one round' : `medians of ${rounds} rounds, or of fewer where a part says so`;
  return paragraph(`Written by \`npm run bench\`; [README.md](README.md) says how it measures. Figures are ${often}, and in
parentheses the least and the most.`);
}

export function goalTable(goals: readonly Goal[]): string {
  const rows = goals.map((goal) => {
    const { what, values, unit, must, aim } = goal;
    const limit = (most: number | undefined): string => (most === undefined ? '' : `${formatNumber(most)} ${unit}`);
    return [what, `${formatSpread(values)} ${unit}`, limit(must), limit(aim), judge(goal)];
  });
  return markdownTable(['what', 'measured', 'must', 'aim', 'holds'], rows);
}

function judge({ values, must, aim }: Goal): string {
  const value = median(values);
  if (!(value <= must)) return '**no**';
  return aim !== undefined && value <= aim ? 'yes, the aim too' : 'yes';
}

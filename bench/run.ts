import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatDuration } from '../src/duration.ts';
import type { Part } from './part.ts';
import { PARTS } from './parts.ts';
import { parseCount } from './support/count.ts';
import { describeMachine } from './support/machine.ts';
import { goalTable, type Measured, writeReport } from './support/report.ts';
import { makeScratchFolder } from './support/scratch.ts';
import { YEAR_OF_POLLS } from './year/year.ts';

// Measures all parts, or those that are named, and writes what it found; see README.md. What is slow is told like
// anything else: only what cannot be measured, or ends with other rows than were sent, is a failure.

const ROUNDS = 5;
const LEAGUES = 100_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: String(ROUNDS) },
    leagues: { type: 'string', default: String(LEAGUES) },
    polls: { type: 'string', default: String(YEAR_OF_POLLS) },
    folder: { type: 'string', default: tmpdir() },
  },
});
const chosen = positionals.length === 0 ? PARTS : positionals.map(partOf);
const [rounds, leagues] = [parseCount(values.rounds), parseCount(values.leagues)];
const polls = parseCount(values.polls);
const isWhole = positionals.length === 0 && leagues === LEAGUES && polls === YEAR_OF_POLLS;

const folder = makeScratchFolder(values.folder);
const machine = describeMachine(folder);
const measured: Measured[] = [];
for (const part of chosen) {
  console.error(`${part.title} …`);
  const began = Date.now();
  const findings = await part.measure({ rounds, leagues, polls, folder });
  measured.push({ part, findings });
  if (findings.goals.length > 0) console.error(goalTable(findings.goals));
  console.error(`… took ${formatDuration(Date.now() - began)}\n`);
}
publish(writeReport(measured, machine, rounds));

function partOf(name: string): Part {
  const part = PARTS.find((one) => one.name === name);
  if (part === undefined) throw new Error(`no part "${name}"; there are ${PARTS.map((one) => one.name).join(', ')}`);
  return part;
}

/** Figures of some parts, or of shorter lists and years, are for whoever asked; the document holds a whole measurement. */
function publish(report: string): void {
  if (!isWhole) {
    console.log(report);
    return;
  }
  writeFileSync(join(import.meta.dirname, 'results.md'), report);
  for (const { findings } of measured) {
    for (const [file, svg] of Object.entries(findings.pictures ?? {})) {
      writeFileSync(join(import.meta.dirname, file), svg);
    }
  }
  console.error('written to bench/results.md');
}

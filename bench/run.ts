import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../src/errors.ts';
import { formatDuration } from '../src/time/duration.ts';
import { parseArguments, type Request, USAGE, UsageError } from './arguments.ts';
import { describeMachine, missingOf } from './support/machine.ts';
import { type Measured, tellGoals, writeReport } from './support/report.ts';
import { makeScratchFolder } from './support/scratch.ts';

// Measures all parts, or those that are named, and writes what it found; see README.md. What is slow is told like
// anything else: only what cannot be measured, or ends with other rows than were sent, is a failure.

const { parts, parent, isWhole, ...counts } = readRequest();
const missing = missingOf(parts.flatMap(({ needs = [] }) => needs));
if (missing.length > 0) {
  refuse(`${missing.join(', ')} missing; on Debian: apt-get install sqlite3 sqlite-utils time`, EXIT.failed);
}

const folder = makeScratchFolder(parent);
const machine = describeMachine(folder);
const measured: Measured[] = [];
for (const part of parts) {
  console.error(`${part.title} …`);
  const began = Date.now();
  const findings = await part.measure({ ...counts, folder });
  measured.push({ part, findings });
  // The report itself is printed otherwise.
  if (isWhole && findings.goals.length > 0) console.error(tellGoals([{ part, findings }]));
  console.error(`… took ${formatDuration(Date.now() - began)}\n`);
}
publish(writeReport(measured, { machine, rounds: counts.rounds, withPictures: isWhole }));

function readRequest(): Request {
  try {
    const request = parseArguments(process.argv.slice(2));
    if (request !== 'help') return request;
    process.stdout.write(USAGE);
    process.exit(EXIT.done);
  } catch (error) {
    if (error instanceof UsageError) refuse(error.message, EXIT.usage);
    throw error;
  }
}

function refuse(why: string, exitCode: number): never {
  console.error(`bench: ${why}`);
  process.exit(exitCode);
}

/** The document holds only complete measurements: figures of some parts, or of shorter lists and years, are just printed. */
function publish(report: string): void {
  if (!isWhole) {
    console.log(report);
    return;
  }
  writeFileSync(join(import.meta.dirname, 'results.md'), report);
  for (const { findings } of measured) {
    for (const { file, svg } of findings.pictures ?? []) writeFileSync(join(import.meta.dirname, file), svg);
  }
  console.error('written to bench/results.md');
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../src/errors.ts';
import { formatDuration } from '../src/time/duration.ts';
import { parseArguments, type Request, USAGE, UsageError } from './arguments.ts';
import { describeMachine, missingOf } from './support/machine.ts';
import { writePictures } from './support/pictures.ts';
import { type Measured, tellGoals, writeReport } from './support/report.ts';
import { makeScratchFolder } from './support/scratch.ts';

// Measures all parts, or the named ones, and writes the results; see README.md. A missed goal is reported, not a
// failure: only a part that cannot be measured, or that stores wrong rows, fails the run.

const { parts, parent, isWhole, ...counts } = readRequest();
const missing = missingOf(parts.flatMap(({ needs = [] }) => needs));
if (missing.length > 0) {
  refuse(`${missing.join(', ')} missing; on Debian: apt-get install postgresql sqlite3 sqlite-utils time`, EXIT.failed);
}

const folder = makeScratchFolder(parent);
const machine = describeMachine(folder);
const measured: Measured[] = [];
for (const part of parts) {
  console.error(`${part.title} …`);
  const began = Date.now();
  const findings = await part.measure({ ...counts, folder });
  measured.push({ part, findings });
  // Otherwise the goals are in the printed report.
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

/**
 * The document has only complete measurements: results of some parts, or of shorter lists and years, are just printed.
 */
function publish(report: string): void {
  if (!isWhole) {
    console.log(report);
    return;
  }
  writeFileSync(join(import.meta.dirname, 'results.md'), report);
  writePictures(measured.flatMap(({ findings }) => findings.pictures ?? []));
  console.error('written to bench/results.md');
}

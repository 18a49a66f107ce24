import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeScratchFolder } from '../support/scratch.ts';
import { measureYear, YEAR_OF_POLLS } from '../year/year.ts';

// A year of polls in a separate process, so that memory figures are of the year only. Prints the figures as JSON.

/** With `synchronous` FULL, as in the program, a year on a disk would take hours. Disk speed is measured elsewhere. */
const IN_MEMORY = '/dev/shm';

const { values } = parseArgs({
  options: { polls: { type: 'string', default: String(YEAR_OF_POLLS) }, whole: { type: 'boolean', default: false } },
});
const polls = Number(values.polls);
if (!Number.isInteger(polls) || polls < 1) throw new Error(`"${values.polls}" is no count`);
const folder = makeScratchFolder(existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir());
const options = { polls, conditional: !values.whole };
console.log(JSON.stringify(await measureYear(join(folder, 'leagues.db'), options)));

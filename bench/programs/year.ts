import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeScratchFolder, memoryFolder } from '../support/scratch.ts';
import { measureYear, YEAR_OF_POLLS } from '../year/year.ts';

// A year of polls in a separate process, so that memory figures are of the year only. Prints the figures as JSON.

const { values } = parseArgs({
  options: { polls: { type: 'string', default: String(YEAR_OF_POLLS) }, whole: { type: 'boolean', default: false } },
});
const polls = Number(values.polls);
if (!Number.isInteger(polls) || polls < 1) throw new Error(`"${values.polls}" is no count`);
const folder = makeScratchFolder(memoryFolder() ?? tmpdir());
const options = { polls, conditional: !values.whole };
console.log(JSON.stringify(await measureYear(join(folder, 'leagues.db'), options)));

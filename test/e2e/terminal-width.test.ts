import { expect, it } from 'vitest';
import { setUpSynced } from '../support/bench.ts';
import { needTerminal, showAtTerminal } from '../support/terminal.ts';

const COMMANDS = ['sync', 'check', 'accept-removals --yes', 'webhook replay --since 1', 'status --database nowhere.db'];
/** The column in which the longest lead of a line ends. */
const LEAD = 24;

needTerminal();

it('at a terminal of 40 columns, the lines of every command are broken between words', async () => {
  const columns = 40;
  const bench = await setUpSynced();
  bench.simulator.setFault('drop-third', true);
  for (const command of COMMANDS) {
    const env = { ...bench.env, TERM: 'xterm' };
    const { lines } = await showAtTerminal(command, { cwd: bench.folder, env, columns });
    expect(lines[0]).not.toBe('');
    const wide = lines.filter((line) => [...line].length > columns);
    // A path or an address is one word.
    expect([command, ...wide.filter((line) => (line.split(' ').at(-1)?.length ?? 0) < columns - LEAD)]).toEqual([
      command,
    ]);
  }
});

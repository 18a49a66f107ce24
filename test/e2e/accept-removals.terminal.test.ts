import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fingerprint } from '../support/folder.ts';
import { acceptedIn, leagueIds, poll, setUpHeld, waitingIn } from '../support/held-removals.ts';
import { makeLeagues } from '../support/leagues.ts';
import { CONTROL_C, CONTROL_D, needTerminal, startAtTerminal } from '../support/terminal.ts';

const HELD = 3;
const QUESTION = 'Remove these 7 leagues with the next poll? [y/N] ';
const NOTHING = 'nothing was accepted';
const ACCEPTED = ['7 removals accepted: the next poll applies them, unless their leagues are listed', 'again'];

/** The lines on the screen. */
function linesOf(screen: string): readonly string[] {
  return stripVTControlCharacters(screen).trimEnd().split('\r\n');
}

describe('accept-removals at a terminal', { timeout: 60_000 }, () => {
  needTerminal();

  it('accepts for the answer yes, in any case', async () => {
    const bench = await setUpHeld();
    const terminal = startAtTerminal('accept-removals', { cwd: bench.folder, env: bench.env, columns: 80 });
    await terminal.waitForPrompt(QUESTION);
    expect(terminal.screen()).toContain('League l10');
    expect(acceptedIn(bench)).toEqual([]);
    terminal.type(' YES \n');
    expect(await terminal.waitForExit()).toBe(0);
    expect(linesOf(terminal.screen()).slice(-2)).toEqual(ACCEPTED);
    expect(acceptedIn(bench)).toEqual(leagueIds(4, 10));
  });

  it('accepts nothing after any other input, or its end, and exits 3, and 130 after Ctrl-C', async () => {
    const bench = await setUpHeld();
    const before = fingerprint(bench.folder);
    for (const keys of ['\n', CONTROL_D, 'yep\n', CONTROL_C]) {
      const terminal = startAtTerminal('accept-removals', { cwd: bench.folder, env: bench.env });
      await terminal.waitForPrompt(QUESTION);
      terminal.type(keys);
      expect(await terminal.waitForExit(), keys).toBe(keys === CONTROL_C ? 130 : HELD);
      expect(terminal.screen().trimEnd().endsWith(NOTHING), keys).toBe(true);
    }
    expect(fingerprint(bench.folder)).toEqual(before);
  });

  it('accepts only what was shown: nothing that was released and held again, or added, before the answer', async () => {
    const bench = await setUpHeld();
    const terminal = startAtTerminal('accept-removals', { cwd: bench.folder, env: bench.env });
    await terminal.waitForPrompt(QUESTION);
    await poll(bench, makeLeagues(4), HELD);
    await poll(bench, makeLeagues(2), HELD);
    terminal.type('y\n');
    expect(await terminal.waitForExit()).toBe(0);
    expect(terminal.screen()).toContain('6 removals accepted');
    expect(acceptedIn(bench)).toEqual(leagueIds(5, 10));
    expect(waitingIn(bench)).toEqual(['l3', 'l4']);
  });
});

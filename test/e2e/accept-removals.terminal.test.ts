import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { execute } from '../support/database.ts';
import { fingerprint } from '../support/folder.ts';
import { acceptedIn, leagueIds, poll, setUpHeld, waitingIn } from '../support/held-removals.ts';
import { makeLeagues } from '../support/leagues.ts';
import { CONTROL_C, CONTROL_D, needTerminal, startAtTerminal } from '../support/terminal.ts';

const HELD = 3;
const QUESTION = 'Remove these 7 leagues with the next poll? [y/N] ';
const NOTHING = 'nothing was accepted';
const ACCEPTED = ['7 removals accepted: the next poll applies them, unless their leagues are listed', 'again'];
const ESCAPE = '\u001b';

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

  it('of 60 characters shows all, each in a line that fits', async () => {
    const columns = 60;
    const bench = await setUpHeld(48, 4);
    const longer = "SET league_id = league_id || '-5d49-41c4-98c5-94b4c4f5e2d0'";
    execute(
      bench.database,
      `UPDATE leagues SET league_name = 'The Well Known ' || league_id || ' League with a Name That Is Long';
        UPDATE leagues ${longer} WHERE league_id IN (SELECT league_id FROM held_removals);
        UPDATE held_removals ${longer}`,
    );
    const env = { ...bench.env, TERM: 'xterm' };
    const terminal = startAtTerminal('accept-removals', { cwd: bench.folder, env, columns });
    await terminal.waitForPrompt('Remove these 44 leagues with the next poll? [y/N] ');
    expect(terminal.screen()).toContain(`${ESCAPE}[33m44 removals held`);
    const [head, empty, names, ...rows] = linesOf(terminal.screen());
    expect(head).toMatch(/^44 removals held, since [\d:]{8} UTC$/);
    expect([empty, names?.trimEnd()]).toEqual(['', expect.stringMatching(/^league +sport$/)]);
    expect(rows[0]).toMatch(/^The Well Known l10-?.* {2}soccer$/);
    expect(rows.slice(0, 44).filter((row) => !row.startsWith('The ') || row.length > columns)).toEqual([]);
    expect(rows[44]).toBe('');
    terminal.type('y\n');
    expect(await terminal.waitForExit()).toBe(0);
    expect(acceptedIn(bench)).toHaveLength(44);
  });

  it('accepts nothing after any other input, or its end, and exits 3', async () => {
    const bench = await setUpHeld();
    const before = fingerprint(bench.folder);
    for (const keys of ['\n', CONTROL_D, 'yep\n']) {
      const terminal = startAtTerminal('accept-removals', { cwd: bench.folder, env: bench.env });
      await terminal.waitForPrompt(QUESTION);
      terminal.type(keys);
      expect(await terminal.waitForExit(), keys).toBe(HELD);
      expect(terminal.screen().trimEnd().endsWith(NOTHING), keys).toBe(true);
    }
    expect(fingerprint(bench.folder)).toEqual(before);
  });

  it('exits 130 on Ctrl-C, and accepts nothing', async () => {
    const bench = await setUpHeld();
    const before = fingerprint(bench.folder);
    const terminal = startAtTerminal('accept-removals', { cwd: bench.folder, env: bench.env });
    await terminal.waitForPrompt(QUESTION);
    terminal.type(CONTROL_C);
    expect(await terminal.waitForExit()).toBe(130);
    expect(terminal.screen()).not.toContain('accepted');
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

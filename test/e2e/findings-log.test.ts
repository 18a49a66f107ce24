import { describe, expect, it } from 'vitest';
import { setUpFor } from '../support/bench.ts';
import { makeLeague } from '../support/leagues.ts';
import type { LogLine, RunningProgram } from '../support/program.ts';
import { listLeagues, startService } from '../support/service.ts';

const WARN = 40;

/** The warnings, by their first words after the kind of the run. */
function warnings(lines: readonly LogLine[]): readonly string[] {
  return lines.flatMap(({ level, msg }) => (level === WARN ? [String(msg)] : []));
}

async function pollAgain(worker: RunningProgram): Promise<readonly string[]> {
  const before = worker.log().length;
  worker.send('SIGHUP');
  await worker.waitForPoll();
  // Warnings precede the next line; the profile is off.
  worker.send('SIGHUP');
  await worker.waitForPoll();
  return warnings(worker.log().slice(before));
}

/** A service whose list a test sets. */
async function startListing(...first: readonly unknown[]) {
  const { url, script } = await startService();
  const list = (...leagues: readonly unknown[]) => script('leagues', listLeagues(leagues));
  list(...first);
  return { bench: setUpFor(url), list };
}

const NAMELESS = makeLeague('x', { league_name: undefined });
const rejectionOf = (position: number) =>
  `leagues: 1 new entry that cannot be stored (rejected_leagues): leagues[${position}] (x) league_name is missing`;
const DRIFT = 'leagues: 1 new departure from the interface (drift): leagues[].mascot unknown-field (string)';

describe('a finding that is new', () => {
  it('is warned of once: not at the next poll, and not after a restart', async () => {
    const { bench, list } = await startListing(makeLeague('a'), makeLeague('b'));
    const worker = bench.startWorker();
    await worker.waitForPoll('changed');
    expect(await pollAgain(worker)).toEqual([]);
    list(makeLeague('a', { mascot: 'a bear' }), makeLeague('b'), NAMELESS);
    expect(await pollAgain(worker)).toEqual([DRIFT, rejectionOf(2)]);
    expect(await pollAgain(worker)).toEqual([]);
    // An unchanged league is not validated again.
    list(makeLeague('a', { mascot: 'a wolf' }), makeLeague('b'), NAMELESS);
    expect(await pollAgain(worker)).toEqual([]);
    await worker.stop();
    list(makeLeague('a', { mascot: 'a hare' }), makeLeague('b'), NAMELESS);

    const next = bench.startWorker({ LEAGUE_SYNC_STATUS: 'active' });
    await next.waitForPoll();
    expect(await pollAgain(next)).toEqual([]);
    expect(warnings(next.log())).toEqual([]);
  });
});

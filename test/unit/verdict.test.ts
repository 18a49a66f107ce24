import { describe, expect, it } from 'vitest';
import { assess, type HealthInput } from '../../src/observe/verdict.ts';

const MINUTE = 60_000;
const SUCCESS = { at: Date.parse('2026-11-20T12:00:00Z'), ageMs: 20_000, staleAfterMs: 17 * MINUTE };
const OLD = { ...SUCCESS, ageMs: 43 * MINUTE };

function situationOf(more: Partial<HealthInput>): HealthInput {
  return {
    success: SUCCESS,
    refused: undefined,
    databaseFault: undefined,
    failures: 0,
    lastError: undefined,
    held: 0,
    rejected: 0,
    ...more,
  };
}

const NO = { message: 'no', byService: true };

describe('the verdict', () => {
  it.each<readonly [Partial<HealthInput>, string, string, readonly string[]]>([
    [{}, 'good', 'Up to date', []],
    [{ held: 44 }, 'warning', 'Up to date, but 44 removals are held', []],
    [{ rejected: 1 }, 'warning', 'Up to date, but 1 list element cannot be stored', []],
    [
      { failures: 1, lastError: { kind: 'status', message: 'down' } },
      'warning',
      'Up to date, but the last poll failed',
      [],
    ],
    [
      { failures: 2, held: 1, rejected: 3 },
      'warning',
      'Up to date, but the last 2 polls failed, 1 removal is held and 3 list elements cannot be stored',
      [],
    ],
    [{ success: undefined }, 'loading', 'Loading the leagues for the first time', ['no-good-poll']],
    [{ success: undefined, failures: 1 }, 'bad', 'No poll has succeeded yet', ['no-good-poll']],
    [{ success: OLD, held: 44 }, 'bad', 'Stale: the last good poll was 43 min ago', ['stale']],
    [{ refused: NO }, 'bad', 'The service refuses the credentials', ['credentials-refused']],
    [{ refused: { ...NO, byService: false } }, 'bad', 'The credentials cannot be read', ['credentials-refused']],
    [{ databaseFault: { message: 'odd', condition: undefined } }, 'bad', 'The database cannot be used', ['database']],
    [
      { databaseFault: { message: 'gone', condition: 'is gone' }, refused: NO, success: OLD },
      'bad',
      'The database is gone',
      ['database', 'credentials-refused', 'stale'],
    ],
  ])('on %j is %s: %s', (more, state, headline, reasons) => {
    const verdict = assess(situationOf(more));
    expect(verdict).toMatchObject({ state, headline, ready: reasons.length === 0 });
    expect(verdict.reasons.map(({ reason }) => reason)).toEqual(reasons);
  });

  it('names the last failure as the cause, unless that is a reason of its own', () => {
    const messages = (more: Partial<HealthInput>) =>
      assess(situationOf({ success: OLD, failures: 1, ...more })).reasons.map(({ message }) => message);
    expect(messages({ lastError: { kind: 'status', message: 'The service is down.' } })[0]).toMatch(
      / The last poll failed: The service is down\.$/,
    );
    expect(
      messages({
        lastError: { kind: 'database', message: 'The disk is full. It was tried twice.' },
        databaseFault: { message: 'The disk is full.', condition: undefined },
      }),
    ).toEqual([
      'The disk is full.',
      'The last good poll was at 2026-11-20T12:00:00.000Z, 43 min ago; data counts as stale after 17 min.',
    ]);
  });
});

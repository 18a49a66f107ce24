import { describe, expect, it } from 'vitest';
import { judgeStaleness } from '../../src/commands/status.ts';
import { assess, briefCause, briefHeadline, type HealthInput, worstFirst } from '../../src/observe/verdict.ts';
import type { Attention, Freshness } from '../../src/store/queries/overview.ts';

const OLD = { ageMs: 43 * 60_000 };
const NO = { message: 'no', byService: true };

function row(what: Attention['what'], count: number | null = null): Attention {
  return { since: null, what, count, summary: `About ${what}.`, what_to_do: '' };
}

const REFUSED_POLLS = {
  ...row('failing', 2),
  summary: 'The last 2 polls failed: the service refuses the credentials.',
};

function inputOf({ attention = [], staleness, freshness, ...more }: Partial<HealthInput>): HealthInput {
  return { attention, staleness, freshness, ...more };
}

describe('the verdict', () => {
  it.each<readonly [Partial<HealthInput>, string, string, readonly string[]]>([
    [{}, 'good', 'Up to date', []],
    [{ attention: [row('held-removals', 44)] }, 'warning', 'Up to date, but 44 removals are held', []],
    [{ attention: [row('rejected-leagues', 1)] }, 'warning', 'Up to date, but 1 list element cannot be stored', []],
    [{ attention: [row('failing', 1)] }, 'warning', 'Up to date, but the last poll failed', []],
    [{ attention: [row('drift', 3)] }, 'warning', 'Up to date, but the format of the answers changed', []],
    [{ attention: [row('interrupted')] }, 'warning', 'Up to date, but a poll was cut short', []],
    [{ attention: [row('interrupted'), row('interrupted')] }, 'warning', 'Up to date, but a poll was cut short', []],
    [{ attention: [row('a-later-thing' as 'drift')] }, 'warning', 'Up to date, but a later thing needs attention', []],
    [{ attention: [row('unusual-change')] }, 'good', 'Up to date', []],
    [{ attention: [row('webhook', 3)] }, 'warning', 'Up to date, but the webhook accepts nothing', []],
    [
      { attention: [row('mirror', 3)], freshness: { live_leagues: 0 } },
      'warning',
      'Up to date, but the mirror is out of date',
      [],
    ],
    [{ attention: [row('copy')] }, 'warning', 'Up to date, but the published copy is out of date', []],
    [{ freshness: { live_leagues: 0 } }, 'good', 'Up to date: the service lists no leagues', []],
    [{ freshness: { live_leagues: 1 } }, 'good', 'Up to date', []],
    [{ attention: [row('credentials-refused')] }, 'warning', 'Up to date, but the service refuses the credentials', []],
    [
      { attention: [row('failing', 2), row('held-removals', 1), row('rejected-leagues', 3)] },
      'warning',
      'Up to date, but the last 2 polls failed (and 2 other problems)',
      [],
    ],
    [
      { attention: [row('drift', 1), REFUSED_POLLS, row('credentials-refused')] },
      'warning',
      'Up to date, but the service refuses the credentials (and 1 other problem)',
      [],
    ],
    [
      { staleness: 'loading', attention: [row('stale')] },
      'loading',
      'Stale: the first poll has not ended',
      ['no-good-poll'],
    ],
    [
      { staleness: 'never', attention: [row('stale'), row('failing', 1)] },
      'bad',
      'Stale: no poll has succeeded',
      ['no-good-poll'],
    ],
    [
      { staleness: OLD, attention: [row('stale'), row('held-removals', 44)] },
      'bad',
      'Stale: the last good poll was 43 min ago',
      ['stale'],
    ],
    [{ refused: NO }, 'bad', 'The service refuses the credentials', ['credentials-refused']],
    [{ refused: { ...NO, byService: false } }, 'bad', 'The credentials cannot be read', ['credentials-refused']],
    [{ databaseFault: { message: 'odd', condition: undefined } }, 'bad', 'The database cannot be used', ['database']],
    [
      { databaseFault: { message: 'gone', condition: 'is gone' }, refused: NO, staleness: OLD },
      'bad',
      'The database is gone',
      ['database', 'credentials-refused', 'stale'],
    ],
  ])('on %j is %s: %s', (more, state, headline, reasons) => {
    const verdict = assess(inputOf(more));
    expect(verdict).toMatchObject({ state, headline, ready: reasons.length === 0 });
    expect(verdict.reasons.map(({ reason }) => reason)).toEqual(reasons);
  });

  it.each([
    ['The service answered GET /events/v1/leagues/ with status 503. It says: "down".', 'the service answers 503'],
    ['The service answered GET /l/ with status 503. It says: "upstream refused the login".', 'the service answers 503'],
    ['The database /srv/list.db cannot grow: the disk is full (SQLITE_FULL).', undefined],
    ['The service refused the login (status 401).', 'the service refuses the credentials'],
    ['GET http://127.0.0.1/ failed: the connection was refused (ECONNREFUSED).', 'the service cannot be reached'],
    ['GET http://127.0.0.1/ took longer than 30 s.', 'the service does not answer in time'],
    ['The last poll of the leagues failed: The response to GET / (status 200) is a page.', 'the answer cannot be used'],
    ['Something else.', undefined],
  ])('says in a few words that %s', (summary, cause) => {
    const attention = [{ ...row('failing', 3), summary }];
    expect(briefCause(summary)).toBe(cause);
    const { headline } = assess(inputOf({ staleness: OLD, attention }));
    expect(headline).toBe(`Stale: ${cause ?? 'the last good poll was 43 min ago'}`);
  });

  it.each([
    ['Up to date, but 1,234 removals are held (and 1 other problem)', '1,234 removals are held (and 1 other problem)'],
    ['Up to date: the service lists no leagues', 'Up to date'],
    ['Stale: the service answers 503', 'Stale'],
  ])('%s: on other pages in fewer words', (headline, brief) => expect(briefHeadline({ headline })).toBe(brief));

  it('names what the first row is about', () => {
    const attention = worstFirst([row('drift'), row('unusual-change'), row('webhook', 3), row('stale')]);
    expect(attention.map(({ what }) => what)).toEqual(['stale', 'webhook', 'drift', 'unusual-change']);
  });

  it('is by the file alone `loading` only while a worker may run and no poll has failed', () => {
    const judge = (state: 'none' | 'unknown' | 'running', consecutive_failures: number) => {
      const freshness = { last_success_at: null, consecutive_failures } as Freshness;
      return judgeStaleness({ attention: [row('stale')], freshness }, { state });
    };
    expect([judge('none', 0), judge('unknown', 0), judge('running', 1)]).toEqual(['never', 'loading', 'never']);
  });

  it('names the last failure as the cause, unless another reason does', () => {
    const attention = [row('stale'), row('failing', 3)];
    const messages = (more: Partial<HealthInput>) =>
      assess(inputOf({ staleness: OLD, attention, ...more })).reasons.map(({ message }) => message);
    expect(messages({})).toEqual(['About stale. About failing.']);
    expect(messages({ refused: NO })).toEqual(['no', 'About stale.']);
  });
});

it.each([
  [
    'the proxy cannot be used',
    'GET https://a.example/ through the proxy http://p:1 failed: the proxy refused it (status 502).',
  ],
  [
    'the connection is not secure',
    'GET https://a.example/ through the proxy http://p:1 failed: the certificate has expired (CERT_HAS_EXPIRED).',
  ],
])('the brief cause is `%s`, for %s', (cause, message) => {
  expect(briefCause(`The last poll of the leagues failed: ${message}`)).toBe(cause);
});

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import initSqlJs from 'sql.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { execute, type Row, readRows } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { placeEmpty } from '../support/store.ts';

const AT = '2026-11-20T12:00:00.000Z';
const LATER = '2026-11-20T12:05:00.000Z';
const FAR = '9999-01-01T00:00:00.000Z';
const GOOD_UNTIL = (
  staleAt: string,
) => `INSERT INTO runs (kind, trigger, scope, started_at, finished_at, outcome, stale_at)
  VALUES ('leagues', 'schedule', 'all', '${AT}', '${AT}', 'unchanged', '${staleAt}');`;
const GOOD = GOOD_UNTIL(FAR);

type Failure = { readonly kind?: string; readonly message?: string; readonly notBefore?: string };

function failed(at: string, { kind = 'status', message = 'It is down.', notBefore }: Failure = {}): string {
  const until = notBefore === undefined ? 'NULL' : `'${notBefore}'`;
  return `INSERT INTO runs (kind, trigger, scope, started_at, finished_at, outcome, error_kind, error_message, not_before)
    VALUES ('leagues', 'schedule', 'all', '${at}', '${at}', 'failed', '${kind}', '${message}', ${until});`;
}

function run(kind: 'leagues' | 'profile', outcome: string): string {
  return `INSERT INTO runs (kind, trigger, scope, started_at, outcome, error_message)
    VALUES ('${kind}', 'schedule', ${kind === 'leagues' ? "'all'" : 'NULL'}, '${LATER}', '${outcome}', 'It was killed.');`;
}

function login(outcome: string, at: string): string {
  const message = outcome === 'ok' ? 'NULL' : "'The service refused the login (status 401).'";
  return `INSERT INTO logins (at, outcome, reason, error_message) VALUES ('${at}', '${outcome}', 'due', ${message});`;
}

function held(leagueId: string, reason: string, acceptedAt = 'NULL'): string {
  return `INSERT INTO leagues (league_id, league_name, sport, league_image, priority, status, first_seen_at, changed_at, content_hash)
      VALUES ('${leagueId}', 'League ${leagueId}', 's', 'i', 1, 'active', '${AT}', '${AT}', 'h');
    INSERT INTO held_removals (league_id, first_run_id, held_since, accepted_at, reason)
      VALUES ('${leagueId}', 1, '${AT}', ${acceptedAt}, ${reason});`;
}

function rejected(leagueId: string, position: number, resolvedAt = 'NULL'): string {
  return `INSERT INTO rejected_leagues (first_run_id, league_id, position, problems, raw, first_seen_at, resolved_at, raw_hash, scope)
    VALUES (1, ${leagueId}, ${position}, '[{"path":"sport","message":"is missing"}]', '{}', '${AT}', ${resolvedAt}, '${position}', 'all');`;
}

function drift(field: string, age: string): string {
  return `INSERT INTO drift (field, kind, detail, first_run_id, first_seen_at)
    VALUES ('${field}', 'unknown-field', 'string', 1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '${age}'));`;
}

type Webhook = { readonly since?: string; readonly stoppedAt?: string };

/** A change that the receiver has not accepted since then; without `since`, nothing is pending. */
function webhook({ since, stoppedAt }: Webhook): string {
  const change =
    since === undefined
      ? ''
      : `INSERT INTO league_changes (run_id, at, league_id, kind, after) VALUES (1, ${since}, 'a', 'added', '{}');`;
  return `${change}INSERT INTO outputs (name, label, seq, last_error) VALUES ('webhook', 'h.example.com', 0, 'status 500');
    INSERT INTO webhook (id, accepted_seq, moved_at, stopped_at, announced_stale, announced_refused) VALUES (1, 0, '${AT}', ${stoppedAt === undefined ? 'NULL' : `'${stoppedAt}'`}, 0, 0);`;
}

const ago = (age: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-${age}')`;

/** Each of the things that need attention, at once. */
const EVERYTHING = [
  GOOD_UNTIL(AT),
  failed(LATER),
  login('refused', LATER),
  held('a', "'limit'"),
  rejected("'x'", 1),
  drift('leagues[].a', '-23 hours'),
  run('profile', 'interrupted'),
  webhook({ since: ago('2 hours') }),
];

let path = '';

beforeEach(async () => {
  const folder = makeFolder();
  path = folder.file('leagues.db');
  await placeEmpty(path);
  return () => folder[Symbol.dispose]();
});

function attentionAfter(...sql: readonly string[]): readonly Row[] {
  execute(path, sql.join('\n'));
  return readRows(path, 'SELECT * FROM attention');
}

describe('attention', () => {
  it('has no row if all is well', () => {
    expect(attentionAfter(GOOD, run('profile', 'changed'), login('ok', AT))).toEqual([]);
    // A poll in progress says nothing yet.
    expect(attentionAfter(run('leagues', 'running'))).toEqual([]);
  });

  it('says `stale` if no poll has succeeded', () => {
    const stale = { what: 'stale', count: null, summary: 'No poll of the leagues has succeeded yet.' };
    expect(attentionAfter()).toMatchObject([{ ...stale, since: null }]);
    expect(attentionAfter(run('profile', 'changed'), run('leagues', 'running'))).toMatchObject([
      { ...stale, since: LATER },
    ]);
  });

  it('says `stale` from stale_at on', () => {
    const [row, ...others] = attentionAfter(GOOD_UNTIL(LATER));
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      since: LATER,
      what: 'stale',
      summary: 'The leagues are stale: the last good poll ended at 2026-11-20 12:00:00 UTC.',
      what_to_do: expect.stringContaining('league-sync run'),
    });
    expect(attentionAfter(GOOD)).toEqual([]);
  });

  it('says `stale` after an upgrade from 0.1.0, until a worker has stored `stale_at`', () => {
    expect(attentionAfter(GOOD, 'UPDATE runs SET stale_at = NULL;')).toMatchObject([{ what: 'stale', since: AT }]);
  });

  it('says `stale` if the clock was set back by more than the time for which data is fresh', () => {
    const goodPoll = (startedAt: string, staleAt: string): string =>
      `DELETE FROM runs; ${GOOD} UPDATE runs SET started_at = ${startedAt}, finished_at = ${startedAt}, stale_at = ${staleAt};`;
    const inFuture = (step: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '${step}')`;
    expect(attentionAfter(goodPoll(inFuture('+10 minutes'), inFuture('+30 minutes')))).toEqual([]);
    expect(attentionAfter(goodPoll(inFuture('+30 minutes'), inFuture('+50 minutes')))).toMatchObject([
      { what: 'stale', summary: expect.stringContaining('The leagues may be stale: the clock was set back.') },
    ]);
  });

  it('says `failing` while the last poll that ended has failed, however it was interrupted since', () => {
    const rows = attentionAfter(
      GOOD,
      failed(AT),
      failed(LATER, { message: 'It says: "no".' }),
      run('leagues', 'running'),
    );
    expect(rows).toMatchObject([
      {
        since: AT,
        what: 'failing',
        count: 2,
        summary: 'The last 2 polls of the leagues failed: It says: "no".',
        what_to_do: expect.stringContaining('league-sync check'),
      },
    ]);
    expect(attentionAfter(run('leagues', 'interrupted')).map(({ what }) => what)).toEqual(['failing', 'interrupted']);
    expect(attentionAfter(GOOD)).toEqual([]);
  });

  it('says until when the service asked for no requests', () => {
    const [row] = attentionAfter(GOOD, failed(LATER, { notBefore: FAR }));
    expect(row?.summary).toBe('The last poll of the leagues failed: It is down.');
    expect(row?.what_to_do).toBe(
      'Wait: the service asked for no requests before 9999-01-01 00:00:00 UTC (Retry-After). A running worker polls then.',
    );
    expect(attentionAfter(failed(LATER, { notBefore: LATER }))[0]?.what_to_do).not.toContain('Wait');
  });

  it('says `credentials-refused` while the newest login was refused', () => {
    const refusal = { what: 'credentials-refused', summary: 'The service refused the login (status 401).' };
    expect(attentionAfter(GOOD, login('ok', AT), login('refused', AT), login('refused', LATER))).toMatchObject([
      { ...refusal, since: AT },
    ]);
    expect(attentionAfter(failed(LATER, { kind: 'credentials' }))).toMatchObject([
      { what: 'failing', summary: 'The last poll of the leagues failed: the service refuses the credentials.' },
      refusal,
    ]);
    expect(attentionAfter(GOOD, login('failed', LATER))).toEqual([]);
  });

  const EMPTY = 'because the list was empty';
  const LIMIT = 'because too many leagues were missing at once';
  it.each([
    ["'empty-list'", "'empty-list'", EMPTY],
    ["'limit'", "'limit'", LIMIT],
    [
      "'unreadable-elements'",
      "'unreadable-elements'",
      'because list elements without a readable league_id could be any of the missing leagues',
    ],
    ["'limit'", "'empty-list'", `1 ${EMPTY}, 2 ${LIMIT}`],
  ])('says why removals are held, by reason if the reasons differ (%s, %s)', (reason, other, why) => {
    const last = reason === other ? reason : 'NULL';
    const open = [held('a', reason), held('b', other), held('c', reason), held('d', last)];
    const rows = attentionAfter(GOOD, ...open, held('e', reason, `'${AT}'`));
    expect(rows).toMatchObject([
      {
        since: AT,
        what: 'held-removals',
        count: 4,
        summary: `The removal of 4 leagues is held, ${why}: League a, League b, League c and 1 more.`,
        what_to_do: expect.stringContaining('league-sync accept-removals'),
      },
    ]);
    expect(readRows(path, 'SELECT * FROM held_leagues WHERE accepted_at IS NOT NULL')).toEqual([
      { league_id: 'e', league_name: 'League e', held_since: AT, accepted_at: AT, reason: reason.replaceAll("'", '') },
    ]);
    expect(readRows(path, 'SELECT sum(held) AS held FROM active_leagues')).toEqual([{ held: 5 }]);
    expect(attentionAfter(`UPDATE held_removals SET accepted_at = '${AT}'`)).toEqual([]);
  });

  it('says with which removals accepting is a risk', () => {
    const rows = attentionAfter(GOOD, held('a', 'NULL'), rejected('NULL', 7));
    expect(rows.map(({ what, count, summary }) => [what, count, summary])).toEqual([
      ['held-removals', 1, 'The removal of 1 league is held: League a.'],
      ['rejected-leagues', 1, '1 list element cannot be stored, one without a readable league_id: sport is missing.'],
    ]);
    expect(rows[0]?.what_to_do).toMatch(
      /^The list has elements without a readable league_id, which could be any of these leagues: .*accept-removals only/,
    );
  });

  it('counts only open rejections', () => {
    expect(attentionAfter(GOOD, rejected("'x'", 1, `'${AT}'`))).toEqual([]);
    expect(attentionAfter(rejected("'y'", 2), rejected("'z'", 3))).toMatchObject([
      {
        since: AT,
        what: 'rejected-leagues',
        count: 2,
        summary: '2 list elements cannot be stored, such as that with the league_id y: sport is missing.',
      },
    ]);
  });

  it('names the drift that began in the last day', () => {
    expect(attentionAfter(GOOD, drift('leagues[].old', '-25 hours'))).toEqual([]);
    const fields = ['a', 'b', 'c', 'd'].map((name) => drift(`leagues[].${name}`, '-23 hours'));
    expect(attentionAfter(...fields)).toMatchObject([
      {
        what: 'drift',
        count: 4,
        summary: expect.stringMatching(/: leagues\[\]\.a unknown-field \(string\), .*leagues\[\]\.c .* and 1 more\.$/),
      },
    ]);
  });

  it.each(['leagues', 'profile'] as const)(
    'says that the last run of the %s was cut short, but not by a signal',
    (kind) => {
      const summary = `A poll of the ${kind} was cut short. It was killed.`;
      expect(attentionAfter(GOOD, run(kind, 'interrupted'))).toMatchObject([
        { since: LATER, what: 'interrupted', summary },
      ]);
      expect(attentionAfter(run(kind, 'running'))).toEqual([]);
      const stopped = `UPDATE runs SET finished_at = '${LATER}' WHERE id = (SELECT max(id) FROM runs)`;
      expect(attentionAfter(run(kind, 'interrupted'), stopped)).toEqual([]);
    },
  );

  it('notes that a poll of the last day changed the same field of many leagues', () => {
    const unusual = (age: string, count: number): string =>
      `${GOOD} UPDATE runs SET finished_at = ${ago(age)}, unusual_change = '[{"field":"sport","count":${count}}]'
        WHERE id = (SELECT max(id) FROM runs);`;
    const [row, ...others] = attentionAfter(unusual('25 hours', 30), unusual('23 hours', 40), GOOD);
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      what: 'unusual-change',
      count: null,
      summary: 'A poll of the last day changed the same field of many leagues at once: sport of 40 leagues.',
      what_to_do: expect.stringContaining(`league-sync changes --since ${row?.since}.`),
    });
    expect(attentionAfter(unusual('1 hours', 50))[0]?.summary).toMatch(
      /^2 polls .*: sport of 50 leagues in the last one/,
    );
  });

  it('says `webhook` if something has been pending and nothing was accepted for an hour', () => {
    const laterChange = webhook({ since: ago('59 minutes') }).replace(/INSERT INTO outputs.*/s, '');
    expect(attentionAfter(GOOD, webhook({ since: ago('61 minutes') }), laterChange)).toMatchObject([
      {
        what: 'webhook',
        count: 2,
        summary: expect.stringMatching(
          /^The webhook at h\.example\.com has accepted nothing since .{19} UTC: 2 changes are pending \(status 500\)\.$/,
        ),
        what_to_do: expect.stringContaining('league-sync webhook test'),
      },
    ]);
    // The change that is pending then is younger.
    expect(attentionAfter('UPDATE webhook SET accepted_seq = 1;')).toEqual([]);
    const accepted = `UPDATE webhook SET accepted_seq = 0; UPDATE outputs SET done_at = ${ago('1 minute')};`;
    expect(attentionAfter(accepted)).toEqual([]);
    expect(attentionAfter('UPDATE outputs SET done_at = NULL; UPDATE webhook SET accepted_seq = 2;')).toEqual([]);
    expect(attentionAfter('UPDATE webhook SET accepted_seq = 0; DELETE FROM outputs;')).toEqual([]);
  });

  it.each([
    ['mirror', 'The mirror at the place has not been written since 2026-11-20 12:00:00 UTC: No route.'],
    ['copy', 'The published copy at the place has not been written since 2026-11-20 12:00:00 UTC: No route.'],
  ])('says `%s` if it has failed for an hour, or is refused', (name, summary) => {
    const failing = `UPDATE outputs SET failed_attempts = 3, failing_since = ${ago('59 minutes')}, last_error = 'No route.'`;
    const row = `INSERT INTO outputs (name, label, done_at) VALUES ('${name}', 'the place', '2026-11-20T12:00:00.000Z');`;
    expect(attentionAfter(GOOD, row, failing)).toEqual([]);
    const [found] = attentionAfter(`UPDATE outputs SET failing_since = ${ago('61 minutes')}`);
    expect(found).toMatchObject({ what: name, summary, count: null });
    expect(attentionAfter(`UPDATE outputs SET failing_since = ${ago('1 minute')}, refused = 1`)).toMatchObject([
      { what: name, what_to_do: expect.stringMatching(/^Nothing more is written to it until .*league-sync check/) },
    ]);
  });

  it('says `webhook` if the receiver answered 410, even if nothing is pending', () => {
    expect(attentionAfter(GOOD, webhook({ stoppedAt: LATER }))).toMatchObject([
      {
        since: LATER,
        what: 'webhook',
        count: 0,
        summary: 'The webhook at h.example.com answered 410 (Gone), so nothing more is sent.',
        what_to_do: expect.stringContaining('league-sync webhook replay --since 0.'),
      },
    ]);
  });

  it('has a row for each of the things at once, in the order of the documents', () => {
    const rows = attentionAfter(...EVERYTHING);
    const what = 'stale failing credentials-refused held-removals rejected-leagues drift interrupted webhook'.split(
      ' ',
    );
    expect(rows.map((row) => row.what)).toEqual(what);
    for (const { summary, what_to_do } of rows) {
      expect(summary).toMatch(/^[\dA-Z].*\.$/);
      expect(what_to_do).toMatch(/^[A-Z].*\.$/);
    }
  });
});

it('outages has a row for each series of failed polls between good ones', () => {
  const times = ['T08', 'T09', 'T10', 'T11'].map((hour) => `2026-11-20${hour}:00:00.000Z`);
  const [first = '', second = '', third = '', fourth = ''] = times;
  const good = (at: string, staleAt: string): string => GOOD_UNTIL(staleAt).replaceAll(AT, at);
  execute(
    path,
    [
      failed(first, { message: 'It is new.' }),
      good(second, FAR),
      failed(third),
      run('leagues', 'interrupted'),
      run('profile', 'failed'),
      failed(fourth, { message: 'It was down.' }),
      good(AT, LATER),
      failed(LATER),
    ].join('\n'),
  );
  expect(readRows(path, 'SELECT * FROM outages')).toMatchObject([
    { since: LATER, until: null, last_good_at: AT, next_good_at: null, failed_polls: 1, stale_since: LATER },
    {
      since: third,
      until: AT,
      last_good_at: second,
      failed_polls: 2,
      stale_since: null,
      error_message: 'It was down.',
    },
    { since: first, until: second, last_good_at: null, next_good_at: second, failed_polls: 1, stale_since: first },
  ]);
});

describe('about', () => {
  /** Runs the statement for a question, with another instant in place of its example. */
  function ask(question: string, instant = ''): readonly Row[] {
    const [row] = readRows(path, `SELECT answer FROM about WHERE subject = '${question}'`);
    return readRows(
      path,
      String(row?.answer).replace(/'....-..-..T.{8}\.\d{3}Z'/, instant === '' ? '$&' : `'${instant}'`),
    );
  }

  it('knows who left and who came back, with what is different, and no value of a league that was gone', () => {
    const change = (at: string, kind: string, before: string, after: string) =>
      `INSERT INTO league_changes (run_id, at, league_id, kind, before, after)
        VALUES (1, '${at}', 'a', '${kind}', ${before}, ${after});`;
    const [first, second] = [`'{"league_name":"A","status":"active"}'`, `'{"league_name":"A","status":"inactive"}'`];
    execute(path, held('a', "'limit'").replace('League a', "A''s <last>"));
    const times = ['T10', 'T11', 'T12'].map((hour) => `2026-11-20${hour}:00:00.000Z`);
    const [added = '', removed = '', restored = ''] = times;
    execute(
      path,
      [
        change(added, 'added', 'NULL', first),
        change(removed, 'removed', first, 'NULL'),
        change(restored, 'restored', `'{"status":"active"}'`, second),
      ].join('\n'),
    );
    const league = { league_id: 'a', league_name: 'A' };
    expect(ask('Which leagues left, which came back, and what is different since?')).toEqual([
      { at: removed, kind: 'removed', ...league, field: null, old_value: null, new_value: null },
      { at: restored, kind: 'restored', ...league, field: 'status', old_value: 'active', new_value: 'inactive' },
    ]);
    const statusAt = (instant: string) =>
      ask('What was the value of a field at an instant?', instant).map(({ status }) => status);
    expect(statusAt('2026-11-20T10:30:00.000Z')).toEqual(['active']);
    expect(statusAt('2026-11-20 11:30')).toEqual([]);
    // As text, it is later than the instant with milliseconds.
    expect(statusAt('2026-11-20T12:00:00Z')).toEqual(['inactive']);
    // The name that the statements ask for is that of the last change.
    expect(ask('What is the whole history of a league?')).toHaveLength(3);
    expect(ask('What differs between two instants, field by field?')).toEqual([
      { difference: 'changed', league_name: 'A', field: 'status', old_value: 'active', new_value: 'inactive' },
    ]);
    expect(ask('What is new after a cursor?')).toMatchObject([
      { seq: 3, database_id: expect.stringMatching(/^\w{32}$/) },
    ]);
  });

  it('names what needs attention, or that nothing does, and tables and views with their descriptions', () => {
    const state = () =>
      readRows(path, "SELECT subject, answer FROM about WHERE subject IN ('state now', 'look at', 'last good poll')");
    expect(state()).toEqual([
      { subject: 'look at', answer: 'No poll of the leagues has succeeded yet.' },
      { subject: 'last good poll', answer: 'none yet' },
    ]);
    execute(path, GOOD);
    expect(state()).toEqual([
      { subject: 'state now', answer: 'Up to date: 0 leagues listed.' },
      { subject: 'last good poll', answer: AT },
    ]);
    const begin = readRows(path, "SELECT subject, answer FROM about WHERE topic = 'begin with'");
    expect(begin.map(({ subject }) => subject)).toContain('attention');
    expect(begin.filter(({ answer }) => answer === null)).toEqual([]);
  });
});

// The oldest version that the documents promise; the operators -> and ->> came with it.
it('the views give the same in SQLite 3.38', async () => {
  execute(path, EVERYTHING.join('\n'));
  execute(
    path,
    `INSERT INTO league_changes (run_id, at, league_id, kind, before, after)
      VALUES (1, '${AT}', 'a', 'changed', '{"city":"Ghent","extra":{}}', '{"league_id":"a","city":"Bruges","extra":{"x":1}}')`,
  );
  const wasmBinary = readFileSync(createRequire(import.meta.url).resolve('sql.js/dist/sql-wasm.wasm'));
  const { Database } = await initSqlJs({ wasmBinary });
  const old = new Database(readFileSync(path));
  expect(old.exec('SELECT sqlite_version()')[0]?.values).toEqual([['3.38.5']]);
  const views = readRows(path, "SELECT name FROM sqlite_schema WHERE type = 'view'").map(({ name }) => String(name));
  expect(views.length).toBeGreaterThan(6);
  expect(old.exec('PRAGMA integrity_check')[0]?.values).toEqual([['ok']]);
  for (const view of views) {
    const [result] = old.exec(`SELECT * FROM ${view}`);
    const rows = readRows(path, `SELECT * FROM ${view}`).map(({ age_seconds: _, ...row }) => Object.values(row));
    const ageAt = result?.columns.indexOf('age_seconds') ?? -1;
    expect(result?.values.map((values) => values.filter((_, index) => index !== ageAt))).toEqual(rows);
  }
  const asked = readRows(path, "SELECT answer FROM about WHERE topic = 'ask'").map(({ answer }) => String(answer));
  expect(asked.length).toBeGreaterThan(20);
  for (const sql of asked) {
    const values = old.exec(sql)[0]?.values ?? [];
    // The others depend on the time.
    if (!/'now'|freshness/.test(sql)) expect(values, sql).toEqual(readRows(path, sql).map((row) => Object.values(row)));
  }
  old.close();
});

import { expect, it } from 'vitest';
import { splitCommands, writeAsTyped } from '../../src/terminal/advice.ts';

const NPM = { npm_execpath: '/usr/lib/npm-cli.js' };

it.each([
  [
    'start one with league-sync run, or poll with league-sync sync',
    'start one with npx league-sync run, or poll with npx league-sync sync',
  ],
  ['league-sync accept-removals shows them', 'npx league-sync accept-removals shows them'],
  ['(see league-sync --help)', '(see npx league-sync --help)'],
  ['league-sync: cannot be used', 'league-sync: cannot be used'],
  ['systemctl reload league-sync', 'systemctl reload league-sync'],
  ['/opt/league-sync run, the league-sync worker', '/opt/league-sync run, the league-sync worker'],
])('the commands in "%s" are written as npm runs them', (message, typed) => {
  expect(writeAsTyped(message, { environment: NPM })).toBe(typed);
  expect(writeAsTyped(message, { environment: {} })).toBe(message);
  const asStarted = typed.replaceAll('npx ', './');
  expect(writeAsTyped(message, { environment: { ...NPM, STARTED_AS: './league-sync' } })).toBe(asStarted);
});

it.each([
  ['league-sync accept-removals shows them', 'league-sync accept-removals --database a.db shows them'],
  ['league-sync accept-removals --yes', 'league-sync accept-removals --database a.db --yes'],
  ['league-sync webhook replay --since 120', 'league-sync webhook replay --database a.db --since 120'],
  ['start one with league-sync run', 'start one with LEAGUE_SYNC_DATABASE=a.db league-sync run'],
  ['league-sync check names it', 'LEAGUE_SYNC_DATABASE=a.db league-sync check names it'],
  ['league-sync webhook test sends one', 'league-sync webhook test sends one'],
  ['(see league-sync --help)', '(see league-sync --help)'],
])('the commands in "%s" name the database that the option named', (message, typed) => {
  expect(writeAsTyped(message, { environment: {}, option: 'a.db' })).toBe(typed);
});

it.each(['7', '2026-11-20T12:00:00.000Z'])('a page has the commands by themselves, also with --since %s', (since) => {
  const text = `Again: league-sync webhook replay --since ${since}.`;
  const parts = splitCommands(text, { environment: {}, option: 'a.db' });
  expect(parts).toEqual(['Again: ', `league-sync webhook replay --database a.db --since ${since}`, '.']);
});

it('a path that a shell would not read as one word is quoted', () => {
  const typed = writeAsTyped('league-sync status', { environment: NPM, option: "the player's.db" });
  expect(typed).toBe("npx league-sync status --database 'the player'\\''s.db'");
});

it.each([
  ['start one with league-sync run', 'start one with npx league-sync demo'],
  ['start one with league-sync run, or poll once with league-sync sync', 'start one with npx league-sync demo'],
  ['league-sync accept-removals', 'npx league-sync accept-removals --database demo.db'],
])('for the database of a demo, "%s" names the demo', (message, typed) => {
  expect(writeAsTyped(message, { environment: NPM, option: 'demo.db', isDemo: true })).toBe(typed);
});

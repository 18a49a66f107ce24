import { expect, it } from 'vitest';
import { writeAsTyped } from '../../src/command-line/advice.ts';

const NPM = { npm_execpath: '/usr/lib/npm-cli.js' };

it.each([
  [
    'start one with league-sync run, or poll with league-sync sync',
    'start one with npx league-sync run, or poll with npx league-sync sync',
  ],
  ['league-sync accept-removals shows them', 'npx league-sync accept-removals shows them'],
  ['(see league-sync --help)', '(see npx league-sync --help)'],
  ['npx league-sync check', 'npx league-sync check'],
  ['league-sync: cannot be used', 'league-sync: cannot be used'],
  ['systemctl reload league-sync', 'systemctl reload league-sync'],
  ['/opt/league-sync run, the league-sync worker', '/opt/league-sync run, the league-sync worker'],
])('the commands in "%s" are written as npm runs them', (message, typed) => {
  expect(writeAsTyped(message, NPM)).toBe(typed);
  expect(writeAsTyped(message, {})).toBe(message);
});

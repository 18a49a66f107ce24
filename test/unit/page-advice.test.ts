import { expect, it } from 'vitest';
import { renderAdvice } from '../../src/observe/page/verdict-card.ts';
import { splitCommands } from '../../src/terminal/advice.ts';

const started = { environment: { STARTED_AS: './league-sync' }, option: '/a b.db' };

it.each([
  [
    'Start the worker if none runs: league-sync run. If one runs, league-sync check names the cause.',
    ["This command names the cause: LEAGUE_SYNC_DATABASE='/a b.db' ./league-sync check"],
  ],
  [
    'Start the worker if none runs: league-sync run. If one runs, it goes on trying; league-sync webhook test sends a message.',
    ['This command sends a message: ./league-sync webhook test'],
  ],
  [
    'Start the worker if none runs: league-sync run. Its next poll makes up for this one.',
    ["The worker's next poll makes up for this one."],
  ],
  [
    'The worker tries again by itself. If it keeps failing: league-sync check.',
    ["If it keeps failing: LEAGUE_SYNC_DATABASE='/a b.db' ./league-sync check"],
  ],
  [
    'rebuild it with league-sync mirror rebuild',
    ["Rebuild it with: ./league-sync mirror rebuild --database '/a b.db'"],
  ],
  [
    'If they are gone, run league-sync accept-removals. If not, tell the operator: one that is listed is kept.',
    [
      "If they are gone, run: ./league-sync accept-removals --database '/a b.db'",
      'If not, tell the operator: one that is listed is kept.',
    ],
  ],
  [
    'Again: league-sync webhook replay --since 7.',
    ["Again: ./league-sync webhook replay --database '/a b.db' --since 7"],
  ],
])('of "%s" the page of a worker has a line for each step, and commands as they are typed', (text, steps) => {
  const page = String(renderAdvice(text, (advice) => splitCommands(advice, started))).replaceAll('&#39;', "'");
  const found = [...page.matchAll(/<li>([^<]*?)(?: <code class="command">(.*?)<\/code>)?<\/li>/g)];
  expect(found.map(([, words, command]) => (command === undefined ? words : `${words} ${command}`))).toEqual(steps);
});

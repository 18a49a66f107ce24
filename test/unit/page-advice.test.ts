import { expect, it } from 'vitest';
import { renderAdvice } from '../../src/observe/page/verdict-card.ts';

it.each([
  [
    'Start the worker if none runs: league-sync run. If one runs, league-sync check names the cause.',
    'league-sync check',
  ],
  ['If they are gone, run league-sync accept-removals.', "league-sync accept-removals --database '/a b.db'"],
  ['Again: league-sync webhook replay --since 7.', "league-sync webhook replay --since 7 --database '/a b.db'"],
])('of "%s" the page of a worker has the command as it is typed', (text, command) => {
  const page = String(renderAdvice(text, '/a b.db')).replaceAll('&#39;', "'");
  expect(/<code class="command">(.*?)<\/code>/.exec(page)?.[1]).toBe(command);
  expect(page).not.toMatch(/if none runs|league-sync run/);
});

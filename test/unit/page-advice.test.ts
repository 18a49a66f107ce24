import { expect, it } from 'vitest';
import { renderAdvice } from '../../src/observe/page/verdict-card.ts';
import { splitCommands } from '../../src/terminal/advice.ts';

const started = { environment: { STARTED_AS: './league-sync' }, option: '/a b.db' };

it.each([
  [
    'Start the worker if none runs: league-sync run. If one runs, league-sync check names the cause.',
    "LEAGUE_SYNC_DATABASE='/a b.db' ./league-sync check",
  ],
  ['rebuild it with league-sync mirror rebuild', "./league-sync mirror rebuild --database '/a b.db'"],
  ['league-sync webhook test sends a test message.', './league-sync webhook test'],
  ['If they are gone, run league-sync accept-removals.', "./league-sync accept-removals --database '/a b.db'"],
  ['Again: league-sync webhook replay --since 7.', "./league-sync webhook replay --database '/a b.db' --since 7"],
  ['See: league-sync changes --since 2026-11-20.', "./league-sync changes --database '/a b.db' --since 2026-11-20"],
])('of "%s" the page of a worker has the command as it is typed', (text, command) => {
  const page = String(renderAdvice(text, (advice) => splitCommands(advice, started))).replaceAll('&#39;', "'");
  expect(/<code class="command">(.*?)<\/code>/.exec(page)?.[1]).toBe(command);
  expect(page).not.toMatch(/if none runs|league-sync run/);
});

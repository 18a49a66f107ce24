import { describe, expect, it } from 'vitest';
import { tabTitle } from '../../src/observe/page/layout.ts';
import type { Attention } from '../../src/store/queries/overview.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestMonitor, makeMonitorSources } from '../support/monitor-sources.ts';

type Known = NonNullable<Parameters<typeof makeMonitorSources>[0]>;

function titleOf(known: Known): string {
  const clock = createTestClock();
  const monitor = createTestMonitor(clock);
  monitor.open(makeMonitorSources({ lastSuccessAt: clock.now(), ...known }));
  return tabTitle(monitor.state());
}

const attentionTo = (what: Attention['what'], count: number | null): Attention => ({
  since: null,
  what,
  count,
  summary: '',
  what_to_do: '',
});

describe('the title of a tab', () => {
  it.each<[string, Known]>([
    ['2 polls failed', { attention: () => [attentionTo('failing', 2), attentionTo('held-removals', 3)] }],
    ['3 held', { attention: () => [attentionTo('held-removals', 3), attentionTo('rejected-leagues', 4)] }],
    ['1,234 rejected', { attention: () => [attentionTo('rejected-leagues', 1_234)] }],
    ['drift', { attention: () => [attentionTo('drift', 1)] }],
    ['mirror fails', { attention: () => [attentionTo('mirror', 3)] }],
    ['1,234 leagues', { counts: { live_leagues: 1_234 } }],
  ])('is "%s", the first of what needs attention', (title, known) => {
    expect(titleOf(known)).toBe(title);
  });
});

import { describe, expect, it } from 'vitest';
import { STYLE } from '../../src/observe/page/files.ts';
import { percentile, renderPolls, roundUp, spanOf, timeTicks } from '../../src/observe/page/poll-chart.ts';
import { NO_COUNTS } from '../../src/sync/report.ts';
import { parseSchedule } from '../../src/time/next-cron-time.ts';
import { DAY, HOUR, MINUTE } from '../support/durations.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

const POLL = {
  id: 1,
  kind: 'leagues',
  trigger: 'schedule',
  outcome: 'unchanged',
  http_status: 200,
  error_kind: null,
  error_message: null,
  ...NO_COUNTS,
} as const;

const OUTCOMES = ['unchanged', 'changed', 'held', 'failed', 'interrupted', 'running'] as const;

const pollAt = (at: number, tookMs = 200, outcome: (typeof OUTCOMES)[number] = 'unchanged') => ({
  ...POLL,
  outcome,
  started_at: new Date(at).toISOString(),
  finished_at: new Date(at + tookMs).toISOString(),
});

type Box = { readonly kind: string; readonly x: number; readonly y: number; readonly height: number };

/** The bars of the chart, without its legend. */
function boxesOf(polls: readonly ReturnType<typeof pollAt>[], spanMs = HOUR): readonly Box[] {
  const chart = /<svg class="chart polls".*?<\/svg>/s.exec(String(renderPolls(polls, spanMs, NOW)))?.[0] ?? '';
  return [
    ...chart.matchAll(
      /<rect (?:class|fill)="([^"]*)"[^>]*? x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/g,
    ),
  ].map(([, kind = '', x, y, height]) => ({ kind, x: Number(x), y: Number(y), height: Number(height) }));
}

describe('the chart of polls', () => {
  it('draws each poll at its time, so that a time without polls is a gap', () => {
    const ages = [0, 1, 2, 30, 31, 61].map((minutes) => minutes * MINUTE);
    const xs = boxesOf(ages.map((age) => pollAt(NOW - age - 1_000)))
      .filter(({ kind }) => kind === 'unchanged')
      .map(({ x }) => x);
    const steps = xs.slice(1).map((x, index) => Math.round(x - (xs[index] ?? 0)));
    expect(steps).toEqual([17, 478, 17, 17]);
  });

  it('draws no poll from before it, and all although the clock was ahead at the oldest', () => {
    const captionOf = (polls: readonly ReturnType<typeof pollAt>[]): string =>
      /<p class="muted">(.*?)<\/p>/.exec(String(renderPolls(polls, 7.5 * HOUR, NOW)))?.[1]?.replace(/<[^>]*>/g, '') ??
      '';
    expect(captionOf([pollAt(NOW - 9 * HOUR)])).toMatch(/^half took at most/);
    const polls = Array.from({ length: 60 }, (_, index) => pollAt(NOW - (index + 1) * 5 * MINUTE));
    expect(captionOf([...polls, pollAt(NOW + DAY)])).toMatch(/^61 polls since today 07:00 &middot; half/);
  });

  it('of few polls is shorter, so that they stay apart, and says since when there are any', () => {
    const polls = [1, 5, 10].map((minutes) => pollAt(NOW - minutes * MINUTE));
    const xs = boxesOf(polls, 7.5 * HOUR).map(({ x }) => x);
    expect([Math.min(...xs), Math.max(...xs)]).toEqual([502.6, 1_014.6]);
    const chart = String(renderPolls(polls, 7.5 * HOUR, NOW)).replace(/<[^>]*>/g, '');
    expect(chart).toContain('3 polls since today 11:50 &middot; half took');
    expect(chart).toContain('11:42 11:44 11:46 11:48 11:50 11:52 11:54 11:56 11:58 12:00');
  });

  it('leaves out polls from before its time, and those whose bar would begin there', () => {
    const ages = [MINUTE, HOUR - 1_000, 2 * HOUR];
    expect(boxesOf(ages.map((age) => pollAt(NOW - age)))).toHaveLength(2);
  });

  it('shows how long a failed poll took, and no axis where no poll has ended', () => {
    const polls = [pollAt(NOW - MINUTE), pollAt(NOW - 2 * MINUTE, 100, 'failed')];
    const [failed, took] = boxesOf(polls).filter(({ y, height }) => y + height === 72);
    expect([failed?.kind, took?.kind]).toEqual(['url(#hatch)', 'took']);
    expect(failed?.height).toBe((took?.height ?? 0) / 2);
    const running = { ...pollAt(NOW - MINUTE, 0, 'running'), finished_at: null };
    expect(String(renderPolls([running], HOUR, NOW))).not.toContain('class="grid"');
  });

  it('tells the outcomes apart without colours: by height, hatching, and outline', () => {
    const polls = OUTCOMES.map((outcome, index) => pollAt(NOW - (index + 1) * MINUTE, 200, outcome));
    const bars = boxesOf(polls).filter(({ kind, y }) => kind !== 'took' && y > 72);
    expect(bars.reverse().map(({ kind, height }) => [kind, height])).toEqual([
      ['unchanged', 6],
      ['changed', 12],
      ['held', 18],
      ['url(#hatch)', 18],
      ['interrupted', 18],
      ['running', 6],
    ]);
    expect(String(renderPolls(polls, HOUR, NOW))).toContain('aria-label="The last 6 polls: 1 failed"');
    for (const outlined of ['interrupted', 'running'])
      expect(STYLE).toMatch(new RegExp(`\\.${outlined}\\b[^}]*fill: none`));
  });

  it('writes the duration over a poll that is too long for the axis', () => {
    const polls = Array.from({ length: 60 }, (_, index) =>
      pollAt(NOW - (index + 1) * MINUTE, index === 30 ? 4_200 : 200),
    );
    const chart = String(renderPolls(polls, HOUR, NOW));
    expect(chart.match(/class="over[^>]*>[^<]*/g)).toEqual([expect.stringMatching(/>4\.2 s$/)]);
    expect(chart).toContain('>400 ms</text>');
    expect(chart).toContain('half took at most 200 ms');
  });

  it.each([
    ['*/5 * * * *', 7.5 * HOUR],
    ['* * * * * *', 90_000],
    ['0 6 * * *', 90 * DAY - 6 * HOUR],
    ['0 0 29 2 *', 90 * DAY],
  ])('goes back as far as 90 polls of the schedule %s take, but not beyond 90 days', (expression, span) => {
    expect(spanOf(parseSchedule(expression, 'UTC'), NOW)).toBe(span);
  });
});

describe('the axes', () => {
  it.each([
    [90_000, '11:58:30 11:58:40 11:58:50 11:59:00 11:59:10 11:59:20 11:59:30 11:59:40 11:59:50 12:00:00'],
    [7.5 * HOUR, '05:00 06:00 07:00 08:00 09:00 10:00 11:00 12:00'],
    [DAY, '12:00 15:00 18:00 21:00 20 Nov 03:00 06:00 09:00 12:00'],
    [90 * DAY, '27 Aug 10 Sep 24 Sep 8 Oct 22 Oct 5 Nov 19 Nov'],
  ])('have ticks at round times of the last %i ms', (span, labels) => {
    const ticks = timeTicks(NOW - span, NOW, 9).map(({ label }) => label);
    expect(ticks.join(' ')).toBe(labels);
  });

  it('end at a round duration', () => {
    expect([0, 273, 400, 401, 999, 4_200].map(roundUp)).toEqual([10, 400, 400, 600, 1_000, 6_000]);
  });

  it('are as long as a percentile, which is one of the values, says', () => {
    expect([percentile([], 0.5), percentile([3], 0.95)]).toEqual([0, 3]);
    expect([percentile([1, 2, 3], 0.5), percentile([1, 2, 3, 4], 0.5)]).toEqual([2, 3]);
  });
});

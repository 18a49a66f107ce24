import { beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { askPromtool, missingPromtool } from '../support/promtool.ts';
import { dashboard } from './dashboard.ts';

/** With the default interval of Prometheus's scrapes, and bars of five minutes. */
const RATE_INTERVAL = '5m15s';
const LABELS = 'job="league-sync", instance="worker:9464"';

/** The expressions of a panel as Prometheus gets them. */
function expressionsOf(title: string, rateInterval = RATE_INTERVAL): readonly string[] {
  const targets = dashboard.panels.find((panel) => panel.title === title)?.targets ?? [];
  return targets.map(({ expr }) =>
    expr.replaceAll('$job', 'league-sync').replaceAll('$instance', '.+').replaceAll('$__rate_interval', rateInterval),
  );
}

type Samples = readonly { readonly labels: string; readonly value: number }[];
type Series = Readonly<Record<string, string>>;

/** Expects these samples of a panel's first expression, of series with a value every 15 seconds. */
function expectSamples(series: Series, at: string, expr: string | undefined, samples: Samples): void {
  const input_series = Object.entries(series).map(([name, values]) => ({
    series: name.includes('{') ? name.replace('}', `, ${LABELS}}`) : `${name}{${LABELS}}`,
    values,
  }));
  const promql_expr_test = [{ expr, eval_time: at, exp_samples: samples }];
  // JSON is YAML, too.
  const tests = JSON.stringify({ tests: [{ interval: '15s', input_series, promql_expr_test }] });
  expect(askPromtool(['test', 'rules', makeFolder().write('dashboard.test.yaml', tests)])).toMatchObject({
    said: expect.stringContaining('SUCCESS'),
    content: true,
  });
}

/** A poll every five minutes, which is every twentieth value, each of which counts one. */
const COUNTER = Array.from({ length: 50 }, (_, polls) => `${polls}x19`).join(' ');

describe('a panel of the dashboard', () => {
  beforeEach(({ skip }) => {
    const why = missingPromtool();
    skip(why !== undefined, why);
  });

  it('has expressions that Prometheus understands', () => {
    const rules = dashboard.panels.flatMap(({ title }) => expressionsOf(title).map((expr) => ({ record: 'a', expr })));
    const file = makeFolder().write(
      'dashboard.yaml',
      JSON.stringify({ groups: rules.map((rule, index) => ({ name: `panel ${index}`, rules: [rule] })) }),
    );
    expect(rules.length).toBeGreaterThan(20);
    // Without the lint for duplicates: all of these rules have one name.
    expect(askPromtool(['check', 'rules', '--lint=none', file])).toMatchObject({ content: true });
  });

  it.each([
    ['', {}, 3_000],
    [' by a clock of the service that is ahead', { league_sync_clock_skew_seconds: '120x60' }, 2_880],
    [' by a clock of the service that is behind', { league_sync_clock_skew_seconds: '-120x60' }, 3_120],
  ])('shows how long the token is good%s', (_, skew: Series, value) => {
    const series = { league_sync_token_expiry_timestamp_seconds: '3600x60', ...skew };
    expectSamples(series, '10m', expressionsOf('Token expires in')[0], [{ labels: '{}', value }]);
  });

  // Between two scrapes, since Prometheus asks each of its targets at a moment of its own.
  it.each([
    ['5m15s', '50m7s', 1],
    ['15m15s', '1h7s', 3],
    ['1h15s', '2h7s', 12],
  ])('shows a poll every five minutes as whole bars, here of %s', (rateInterval, at, value) => {
    const series = { 'league_sync_runs_total{kind="leagues", outcome="unchanged"}': COUNTER };
    const [expr] = expressionsOf('League polls by outcome', rateInterval);
    expectSamples(series, at, expr, [{ labels: '{outcome="unchanged"}', value }]);
  });
});

describe('the dashboard', () => {
  const { panels } = dashboard;
  const stats = panels.filter(({ type }) => type === 'stat');

  // As a range, the last value before a worker died would stay for as long as the range.
  it.each(stats)('asks for the present value of "$title", and has no colour for none', ({ targets, fieldConfig }) => {
    for (const { instant, range } of targets) expect({ instant, range }).toEqual({ instant: true, range: false });
    const { thresholds, mappings } = fieldConfig.defaults;
    if (thresholds === undefined) return;
    const nothing = mappings?.find(({ type }) => type === 'special');
    expect(nothing?.options).toMatchObject({ match: 'null', result: { text: expect.any(String) } });
  });

  it('has panels that can be told apart and do not overlap', () => {
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

import { describe, expect, it } from 'vitest';
import { dashboard, type Panel, panelOf } from '../support/dashboard.ts';

const { panels } = dashboard;
const stats = panels.filter(({ type }) => type === 'stat');
const barPanels = panels.filter(({ fieldConfig }) => fieldConfig.defaults.custom?.drawStyle === 'bars');

/** The address that Prometheus scrapes, as Grafana fills it in. */
const PAGE = ['http://', '{__field.labels.instance}/'].join('$');

/** What the panel shows instead of this value. */
function textOf({ fieldConfig }: Panel, value: string): unknown {
  return fieldConfig.defaults.mappings?.find(({ type }) => type === 'value')?.options[value];
}

function colourOf({ fieldConfig }: Panel, name: string): string | undefined {
  return fieldConfig.overrides.find(({ matcher }) => matcher.options === name)?.properties[0]?.value.fixedColor;
}

describe('the dashboard', () => {
  it('says first whether the worker is up', () => {
    expect(panels[0]?.title).toBe('Worker');
    expect(panels[0]?.gridPos).toMatchObject({ x: 0, y: 0 });
    expect(textOf(panelOf('Worker'), '0')).toMatchObject({ text: 'worker down' });
    expect(textOf(panelOf('Worker'), '1')).toMatchObject({ text: 'up' });
  });

  // As a range, the last value before a worker died would stay for as long as the range.
  it.each(stats)('asks for the present value of "$title"', ({ targets }) => {
    for (const { instant, range } of targets) expect({ instant, range }).toEqual({ instant: true, range: false });
  });

  it.each(stats.filter(({ fieldConfig }) => fieldConfig.defaults.thresholds))(
    'does not show "$title" in a colour of its values if there is no value',
    ({ fieldConfig: { defaults } }) => {
      const nothing = defaults.mappings?.find(({ type }) => type === 'special');
      expect(nothing?.options).toMatchObject({ match: 'null', result: { text: expect.any(String) } });
    },
  );

  it('colours the last good poll by its age', () => {
    const steps = panelOf('Last good poll').fieldConfig.defaults.thresholds?.steps ?? [];
    // Two polls, and three and LEAGUE_SYNC_RUN_TIMEOUT, by their defaults.
    expect(steps.map(({ value }) => value)).toEqual([null, 600, 3 * 300 + 120]);
    expect(new Set(steps.map(({ color }) => color)).size).toBe(3);
  });

  it.each(barPanels)('has whole bars of five minutes in "$title"', ({ interval, targets }) => {
    expect(interval).toBe('5m');
    for (const { expr } of targets) expect(expr).toMatch(/^round\(.*increase\(.*\[\$__rate_interval\]\)\)\)$/);
  });

  it('has a colour for each outcome and each kind of change', () => {
    for (const [title, names] of [
      ['League polls by outcome', ['changed', 'unchanged', 'held', 'failed', 'interrupted']],
      ['League changes', ['added', 'changed', 'restored', 'removed']],
    ] as const) {
      const colours = names.map((name) => colourOf(panelOf(title), name));
      expect([title, colours]).not.toContain(undefined);
      expect([title, new Set(colours).size]).toEqual([title, names.length]);
    }
  });

  it('leads to the page of each worker', () => {
    for (const title of ['Worker', 'Ready', 'Last good poll']) {
      const { targets, fieldConfig } = panelOf(title);
      expect(fieldConfig.defaults.links?.map(({ url }) => url)).toEqual([PAGE]);
      // Otherwise the value has no such label.
      for (const { expr } of targets) expect(expr).toContain('by (instance)');
    }
  });

  it('names the quantiles of the duration', () => {
    expect(panelOf('Poll duration').targets.map(({ legendFormat }) => legendFormat)).toEqual(['p50', 'p95', 'mean']);
  });

  it('has panels that can be told apart and do not overlap', () => {
    for (const key of ['id', 'title'] as const)
      expect(new Set(panels.map((panel) => panel[key])).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });
});

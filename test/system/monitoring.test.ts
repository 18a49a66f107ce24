import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { askPromtool, missingPromtool } from '../support/promtool.ts';
import { type Scrape, scrape } from '../support/scrape.ts';
import { serveHere } from '../support/status-server.ts';
import { dashboard } from './dashboard.ts';

/** Added to every series by the scraper. */
const OF_THE_SCRAPER = ['job', 'instance'];
const NAME = /\b(?:league_sync|process|nodejs)_\w+/g;
const SELECTOR = /\b((?:league_sync|process|nodejs)_\w+)\{([^}]*)\}/g;
const MATCHER = /(\w+)\s*(=~|=)\s*"([^"]*)"/g;

/** The metrics that have no value now, such as how far a mirror is that cannot be reached. */
function withoutValue({ text, samples }: Scrape): readonly string[] {
  const declared = [...text.matchAll(/^# TYPE (league_sync_\w+) gauge$/gm)].map(([, name = '']) => name);
  return declared.filter((declaredName) => !samples.some(({ name }) => name === declaredName));
}

/** The metrics, labels and label values in a PromQL expression that the scrape lacks. */
function missingFrom({ samples }: Scrape, expression: string): readonly string[] {
  const valuesOf = (metric: string, label: string): readonly (string | undefined)[] =>
    samples.filter(({ name }) => name === metric).map(({ labels }) => labels[label]);
  const names = [...new Set(expression.match(NAME) ?? [])];
  const unknown = names.filter((metric) => !samples.some(({ name }) => name === metric));
  const unmatched = [...expression.matchAll(SELECTOR)].flatMap(([, metric = '', matchers = '']) =>
    [...matchers.matchAll(MATCHER)].flatMap(([, label = '', operator, wanted = '']) => {
      if (OF_THE_SCRAPER.includes(label)) return [];
      const values = valuesOf(metric, label);
      const words = operator === '=~' ? wanted.split('|') : [wanted];
      return words.filter((word) => !values.includes(word)).map((word) => `${metric}{${label}="${word}"}`);
    }),
  );
  return [...unknown, ...unmatched];
}

const FOLDER = 'docs/monitoring';
const rules = readFileSync(`${FOLDER}/alerts.yaml`, 'utf8');
const cases = readFileSync(`${FOLDER}/alerts.test.yaml`, 'utf8');
const page = readFileSync(`${FOLDER}/README.md`, 'utf8');
const messages = readFileSync('docs/messages.md', 'utf8');

/** The metrics of a worker that has made a poll of each kind. */
async function scrapeWorker(): Promise<Scrape> {
  const { worker, url } = await serveHere(await setUp(), {
    LEAGUE_SYNC_PROFILE_SCHEDULE: '0 0 29 2 *',
    LEAGUE_SYNC_POSTGRES_URL: 'postgresql://nobody@127.0.0.1:1/nothing',
  });
  await worker.waitForLog((line) => line.kind === 'profile' && line.outcome !== undefined);
  return scrape(url);
}

/** The names of the rules, in their order. */
function alerts(): readonly string[] {
  return [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
}

/** The text of each rule. */
function ruleTexts(): readonly string[] {
  return rules.split(/^ +- alert: /m).slice(1);
}

describe('the rules for Prometheus', () => {
  beforeEach(({ skip }) => {
    const why = missingPromtool();
    skip(why !== undefined, why);
  });

  it('fire when they should, and only then', () => {
    expect(askPromtool(['test', 'rules', `${FOLDER}/alerts.test.yaml`])).toMatchObject({ content: true });
  });
});

describe('each rule for Prometheus', () => {
  it('is seen to fire', () => {
    expect(alerts().length).toBeGreaterThan(8);
    expect(alerts().filter((name) => !cases.includes(`{alertname="${name}"}`))).toEqual([]);
  });

  it('names what an operator can do', () => {
    const rows = messages.split('\n## Alerts\n')[1]?.split('\n## ')[0] ?? '';
    for (const [index, name] of alerts().entries()) {
      expect(ruleTexts()[index]).toContain(`runbook: docs/messages.md, "Alerts", ${name}\n`);
      expect(rows).toContain(`| \`${name}\` |`);
    }
  });
});

it('the rules, the dashboard and the page on monitoring name the metrics that a worker has', async () => {
  const found = await scrapeWorker();
  expect(ruleTexts().flatMap((text) => missingFrom(found, text.split('for:', 1)[0] ?? ''))).toEqual([]);

  const targets = dashboard.panels.flatMap((panel) => panel.targets);
  expect(targets.length).toBeGreaterThan(20);
  expect(targets.flatMap(({ expr }) => missingFrom(found, expr))).toEqual([]);
  const choices = dashboard.templating.list.map(({ query }) => (typeof query === 'string' ? '' : query.query));
  expect(choices.flatMap((query) => missingFrom(found, query))).toEqual([]);

  const own = found.samples.filter(({ name }) => name.startsWith('league_sync_'));
  const served = own.map(({ name, labels }) => {
    const shown = Object.keys(labels).filter((label) => label !== 'le');
    return name.replace(/_(?:bucket|sum|count)$/, '') + (shown.length === 0 ? '' : `{${shown.join(',')}}`);
  });
  const named = [...page.matchAll(/^\| `(league_sync_[^`]+)`/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual([...new Set([...served, ...withoutValue(found)])].toSorted());
});

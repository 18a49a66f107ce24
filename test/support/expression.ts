import type { Scrape } from './scrape.ts';

/** Added to every series by the scraper. */
const OF_THE_SCRAPER = ['job', 'instance'];
const NAME = /\b(?:league_sync|process|nodejs)_\w+/g;
const SELECTOR = /\b((?:league_sync|process|nodejs)_\w+)\{([^}]*)\}/g;
const MATCHER = /(\w+)\s*(=~|=)\s*"([^"]*)"/g;

/** The metrics, labels and label values in a PromQL expression that the scrape lacks. */
export function missingFrom({ samples }: Scrape, expression: string): readonly string[] {
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
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
  const unlabelled = missingLabels({ samples }, names, grouped);
  return [...unknown, ...unmatched, ...unlabelled];
}

/** The labels that none of these metrics has. */
export function missingLabels(
  { samples }: Pick<Scrape, 'samples'>,
  metrics: readonly string[],
  labels: readonly string[],
): readonly string[] {
  const known = samples.filter(({ name }) => metrics.includes(name)).flatMap((sample) => Object.keys(sample.labels));
  return labels.filter((label) => ![...known, ...OF_THE_SCRAPER].includes(label));
}

/** The metrics in an expression. */
export function metricsIn(expression: string): readonly string[] {
  return expression.match(NAME) ?? [];
}

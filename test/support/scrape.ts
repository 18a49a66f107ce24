/** One series of an answer to /metrics. */
export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

/** An answer to /metrics. */
export type Scrape = ReturnType<typeof readScrape>;

/** Requests and parses the metrics, like Prometheus. */
export async function scrape(door: string): Promise<Scrape> {
  const answer = await fetch(`${door}/metrics`);
  if (answer.status !== 200) throw new Error(`/metrics answered with status ${answer.status}`);
  return readScrape(await answer.text());
}

/** Parses a response of /metrics. */
export function readScrape(text: string) {
  const samples = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(readSample);
  return {
    text,
    samples,
    /** The value of the series with this name whose labels include these; undefined if there is none. */
    value: (name: string, labels: Readonly<Record<string, string>> = {}): number | undefined => {
      const wanted = Object.entries(labels);
      const found = samples.filter(
        (sample) => sample.name === name && wanted.every(([label, word]) => sample.labels[label] === word),
      );
      if (found.length > 1) throw new Error(`${found.length} series of ${name} have these labels`);
      return found[0]?.value;
    },
  };
}

function readSample(line: string): Sample {
  const [, name = '', list = '', value = ''] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === '') throw new Error(`no sample: ${line}`);
  const labels = [...list.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', word = '']) => [label, word] as const);
  return { name, labels: Object.fromEntries(labels), value: Number(value) };
}

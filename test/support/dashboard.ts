import { readFileSync } from 'node:fs';

export type Target = {
  readonly expr: string;
  readonly legendFormat: string;
  readonly instant?: boolean;
  readonly range?: boolean;
};

type Step = { readonly color: string; readonly value: number | null };
type Override = {
  readonly matcher: { readonly options: string };
  readonly properties: readonly { readonly value: { readonly fixedColor: string } }[];
};

export type Panel = {
  readonly id: number;
  readonly type: 'stat' | 'timeseries';
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  /** The least time between two points. */
  readonly interval?: string;
  readonly targets: readonly Target[];
  readonly fieldConfig: {
    readonly defaults: {
      readonly custom?: { readonly drawStyle?: string };
      readonly thresholds?: { readonly steps: readonly Step[] };
      readonly mappings?: readonly { readonly type: string; readonly options: Readonly<Record<string, unknown>> }[];
      readonly links?: readonly { readonly url: string }[];
    };
    readonly overrides: readonly Override[];
  };
};

type Dashboard = {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
};

export const dashboard = JSON.parse(readFileSync('docs/monitoring/dashboard.json', 'utf8')) as Dashboard;

export function panelOf(title: string): Panel {
  const panel = dashboard.panels.find((one) => one.title === title);
  if (panel === undefined) throw new Error(`the dashboard has no panel "${title}"`);
  return panel;
}

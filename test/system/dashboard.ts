import { readFileSync } from 'node:fs';

type Panel = {
  readonly type: 'stat' | 'timeseries';
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly {
    readonly expr: string;
    readonly instant?: boolean;
    readonly range?: boolean;
  }[];
  readonly fieldConfig: {
    readonly defaults: {
      readonly thresholds?: object;
      readonly mappings?: readonly { readonly type: string; readonly options: object }[];
    };
  };
};

type Dashboard = {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
};

export const dashboard = JSON.parse(readFileSync('docs/monitoring/dashboard.json', 'utf8')) as Dashboard;

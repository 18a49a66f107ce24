/** Charts and the cards with numbers. Shapes differ as well as colours: see `HEIGHTS` in poll-chart.ts. */
export const CHARTS = `
svg { display: block; } .chart { width: 100%; height: auto; }
.scroll { overflow-x: auto; direction: rtl; } .scroll svg { direction: ltr; }
.chart text { fill: var(--muted); font-size: 11px; } .chart .to-end { text-anchor: end; } .chart .middle { text-anchor: middle; }
.grid { stroke: var(--line); } .tick { stroke: var(--muted); } .took { fill: var(--took); } .chart .over { font-weight: 600; fill: var(--text); }
.changed { fill: var(--good); } .unchanged { fill: var(--idle); } .held { fill: var(--warn); }
.failed { fill: var(--bad); } .hatch { stroke: var(--card); stroke-width: 2; } .interrupted, .running { fill: none; stroke: var(--idle); } .running { stroke: var(--link); }
.key { display: flex; flex-wrap: wrap; gap: .2rem .9rem; font-size: .85rem; color: var(--muted); align-items: center; }
.key svg { display: inline-block; vertical-align: -2px; margin-right: .4rem; overflow: visible; } .heat svg { margin: 0 1px; }
.days .fresh { fill: var(--good); } .days .none { fill: var(--none); } .days { height: 30px; }
.ends { display: flex; justify-content: space-between; font-size: .8rem; color: var(--muted); margin-top: .25rem; }
.outages { font-size: .9rem; margin-top: .4rem; display: grid; gap: .1rem; }
.sub { margin: .5rem 0 .35rem; } details { margin-top: .25rem; font-size: .92rem; } summary { cursor: pointer; color: var(--link); width: fit-content; }
.heat-0 { fill: var(--heat-0); } .heat-1 { fill: var(--heat-1); } .heat-2 { fill: var(--heat-2); }
.heat-3 { fill: var(--heat-3); } .heat-4 { fill: var(--heat-4); } .year a:is(:hover, :focus-visible) rect { stroke: var(--text); stroke-width: 1.5; }
.big { font-size: 2rem; font-weight: 650; line-height: 1.1; letter-spacing: -.02em; margin: .1rem 0 .5rem; } .big small { font-size: .92rem; font-weight: 400; letter-spacing: 0; color: var(--muted); }
.bar { width: 100%; height: .5rem; } .bar .active { fill: var(--good); } .bar .inactive { fill: var(--idle); } .bar .other { fill: var(--warn); }
.split { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 .75rem; font-size: .88rem; margin: .35rem 0 .6rem; }
.sports th, .sports td { border: 0; padding: .12rem 0; vertical-align: middle; font-size: .92rem; } .sports th { max-width: 10rem; padding-right: .75rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.sports td { width: 99%; } .sports td.number { width: auto; text-align: right; padding-left: .75rem; } .sports svg { width: 100%; height: .5rem; fill: var(--took); }
`;

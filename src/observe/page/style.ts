/** Uses no external resources, which the Content-Security-Policy would block. */
export const STYLE = `
/* Paper is always light. Names ending in -text are for text and have a contrast of 4.5:1; the others are for shapes and have 3:1, except --heat, --pre, --off and --none, whose shapes have titles. */
:root {
  color-scheme: light dark;
  --ground: #f6f7f9; --card: #ffffff; --line: #e1e5ea; --text: #16191d; --muted: #57606a; --link: #0b5cad; --field: #6b7580;
  --good-text: #1a7f37; --good: #2a9d4b; --good-ground: #eaf6ee;
  --warn-text: #845600; --warn: #bf8700; --warn-ground: #fff6e0;
  --bad-text: #b3261e; --bad: #cf222e; --bad-ground: #fdf0ef;
  --idle: #7c96b3; --took: #7c96b3; --none: #d3d9e0;
  --pre: #8fd0a5; --on: #1f7a43; --late: #0f5229; --off: #e3e8ee; --in-pre: #16191d; --in-on: #ffffff; --in-late: #ffffff;
  --heat-0: #eceff3; --heat-1: #b9dfc4; --heat-2: #6fbd88; --heat-3: #2f8f52; --heat-4: #0f5229;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #0d1117; --card: #151b23; --line: #2a323d; --text: #e6eaef; --muted: #9ea9b5; --link: #79b8ff; --field: #78838f;
    --good-text: #56c271; --good: #3fb950; --good-ground: #10261a;
    --warn-text: #e3b341; --warn: #d29922; --warn-ground: #2b2108;
    --bad-text: #ff8f87; --bad: #f85149; --bad-ground: #2d1413;
    --idle: #6c86a3; --took: #4f6d8c; --none: #333d49;
    --pre: #2b5d3e; --on: #3fa463; --late: #8be8aa; --off: #232b35; --in-pre: #e6eaef; --in-on: #0d1117; --in-late: #0d1117;
    --heat-0: #1d242d; --heat-1: #17432a; --heat-2: #23703f; --heat-3: #36a05a; --heat-4: #7ee2a0;
  }
}
/* The page as a whole: its grid, its header and footer, its cards, text and tables. */
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
table.wide :is(th, td), .feed, dd, h1, .attention, code { overflow-wrap: anywhere; }
h1, h2, h3, p, dl, dd, ol, ul { margin: 0; padding: 0; } ol, ul { list-style: none; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
p a:not(.plain *, .plain) { text-decoration: underline; }
:is(a, input, select, button, summary, [tabindex]):focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -9999px; } .skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem 1rem; z-index: 1; }
header, main, footer { max-width: 72rem; margin: 0 auto; padding: 0 1.25rem; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: center; min-height: 3.4rem; }
.brand { font-weight: 650; font-size: 1.1rem; color: var(--text); }
header nav { display: flex; flex-wrap: wrap; gap: .25rem; } header nav a { padding: .4rem .75rem; border-radius: 8px; color: var(--muted); font-weight: 500; }
header nav a[aria-current] { background: var(--card); color: var(--text); box-shadow: 0 0 0 1px var(--line); }
.pill { display: inline-flex; gap: .4rem; align-items: center; margin-left: auto; color: var(--text); font-size: .85rem; text-decoration: underline; text-decoration-color: var(--muted); text-underline-offset: 2px; }
.strip { background: var(--bad-ground); border: 1px solid color-mix(in srgb, var(--bad) 45%, var(--card)); border-radius: 8px; padding: .5rem 1rem; }
main { display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: .9rem; align-items: start; }
main > * { grid-column: 1 / -1; }
@media (min-width: 56rem) { main > .major { grid-column: span 8; } main > .minor { grid-column: span 4; } main > .half { grid-column: span 6; } }
footer { display: flex; flex-wrap: wrap; gap: .3rem 1.25rem; padding-block: .8rem 1.2rem; font-size: .85rem; color: var(--muted); }
section, .state { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: .95rem 1.25rem; }
div > section + section { margin-top: .9rem; }
h1 { font-size: 1.6rem; line-height: 1.2; font-weight: 650; letter-spacing: -.015em; }
section > h1 { margin-bottom: .35rem; }
h2 { font-size: 1.05rem; font-weight: 650; } h3 { font-size: .9rem; font-weight: 600; }
.top { display: flex; flex-wrap: wrap; align-items: baseline; gap: .15rem .75rem; margin-bottom: .45rem; }
.top > p { font-size: .88rem; } .top > .end { margin-left: auto; font-size: .88rem; }
.muted, .cut { color: var(--muted); font-weight: 400; }
code { font: .88em ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
time { white-space: nowrap; }
.tag { display: inline-block; border: 1px solid var(--line); border-radius: 10px; padding: 0 .6rem; font-size: .85rem; font-weight: 400; max-width: 100%; }
.tag.good { color: var(--good-text); border-color: currentColor; }
.tag.removed, .tag.bad { color: var(--bad-text); border-color: currentColor; }
.tag.held, .tag.warn { color: var(--warn-text); border-color: currentColor; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
caption { text-align: left; color: var(--muted); font-size: .9rem; padding-bottom: .5rem; }
th, td { text-align: left; padding: .4rem .75rem .4rem 0; border-top: 1px solid var(--line); vertical-align: top; font-weight: 400; }
thead th { border-top: 0; color: var(--muted); font-weight: 600; font-size: .85rem; }
td.number { white-space: nowrap; } .wide .number { text-align: right; padding-right: 2rem; } thead a { color: inherit; white-space: nowrap; } th[aria-sort] { color: var(--text); } th[aria-sort=ascending] a::after { content: " \\25b4"; } th[aria-sort=descending] a::after { content: " \\25be"; }
.count { align-items: center; margin: 0; } .count nav { margin-left: auto; } .count .pages { margin: 0; }
dl.rows { display: grid; gap: .25rem; font-size: .92rem; }
dl.rows > div { display: grid; grid-template-columns: 5.4rem minmax(0, 1fr); gap: 0 .75rem; } dl.rows dt { color: var(--muted); }
dl.rows small { display: block; font-size: .88em; font-weight: 400; color: var(--muted); } dl.rows .bad { color: var(--bad-text); font-weight: 600; }
/* The state of the data on top of every home page, and its neighbours: what to do, shares of fresh time, checks. */
.state { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: .25rem 1rem; align-items: center; padding: 1.1rem 1.5rem; }
.state.good { background: var(--good-ground); border-color: color-mix(in srgb, var(--good) 35%, var(--card)); }
.state.warning { background: var(--warn-ground); border-color: color-mix(in srgb, var(--warn) 45%, var(--card)); }
.state.bad { background: var(--bad-ground); border-color: color-mix(in srgb, var(--bad) 45%, var(--card)); }
.state.lost { border-color: var(--muted); }
.state .what p { margin-top: .2rem; color: var(--muted); }
.shares { text-align: right; } .shares > p { font-size: .8rem; color: var(--muted); } .shares dl { display: flex; gap: 1.5rem; justify-content: end; }
.shares dt { font-size: .8rem; color: var(--muted); } .shares dd { font-size: 1.2rem; font-weight: 600; line-height: 1.2; white-space: nowrap; }
.attention, .checks, .days { grid-column: 1 / -1; margin-top: .8rem; }
.attention { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .2rem 1rem; }
.attention > li { padding: .6rem 0; } .attention > li + li { border-top: 1px solid var(--line); }
.attention p { display: grid; grid-template-columns: 8.5rem minmax(0, 1fr); } .attention b { font-weight: 500; color: var(--muted); } .attention p + p { margin-top: .15rem; }
.command { user-select: all; background: var(--ground); border-radius: 4px; padding: .05rem .3rem; }
.checks { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font-size: .88rem; color: var(--muted); border-top: 1px solid color-mix(in srgb, var(--text) 10%, transparent); padding-top: .6rem; }
.checks .note::before { content: "i"; color: var(--muted); }
.checks li::before { content: "✓"; color: var(--good-text); font-weight: 700; margin-right: .35rem; }
.checks .open { color: var(--text); font-weight: 600; } .checks .open::before { content: "!"; color: var(--warn-text); }
.checks .bad { color: var(--bad-text); font-weight: 600; } .checks .bad::before { content: "✗"; color: var(--bad-text); }
.chips { display: flex; flex-wrap: wrap; gap: .35rem; margin-top: .5rem; } .chips li { border: 1px solid var(--line); border-radius: 6px; padding: .05rem .55rem; font-size: .88rem; max-width: 100%; }
#notices { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem; align-items: start; } #notices section { margin: 0; }
#notices p { margin: .3rem 0; font-size: .92rem; } #notices h3 { margin-top: .6rem; } #notices li + li { margin-top: .15rem; } #notices .chips li { margin: 0; }
main.dim > :not(#lost) { filter: grayscale(1); --card: var(--ground); --text: var(--muted); --link: var(--muted); --good-text: var(--muted); --warn-text: var(--muted); --bad-text: var(--muted); color: var(--text); } main.dim > #state { display: none; }
/* Charts and the cards with numbers. Shapes differ as well as colours: see OUTCOMES in poll-chart.ts. */
svg { display: block; } .chart { width: 100%; height: auto; }
.scroll { overflow-x: auto; direction: rtl; } .scroll svg { direction: ltr; }
.chart text { fill: var(--muted); font-size: 11px; } .chart .to-end { text-anchor: end; } .chart .middle { text-anchor: middle; }
.grid { stroke: var(--line); } .tick { stroke: var(--muted); } .took { fill: var(--took); } .chart .over { font-weight: 600; fill: var(--text); }
.changed { fill: var(--good); } .unchanged { fill: var(--idle); } .held { fill: var(--warn); }
.failed { fill: var(--bad); } .hatch { stroke: var(--card); stroke-width: 2; } .interrupted, .running { fill: none; stroke: var(--idle); } .running { stroke: var(--link); }
.key { display: flex; flex-wrap: wrap; gap: .2rem .9rem; font-size: .85rem; color: var(--muted); align-items: center; }
.key svg { display: inline-block; vertical-align: -2px; margin-right: .4rem; overflow: visible; } .heat svg { margin: 0 1px; }
.days .fresh { fill: var(--good); } .days .none { fill: var(--none); } .days .chart { height: 24px; } .state .ends { margin-top: .15rem; }
.ends { display: flex; justify-content: space-between; gap: .5rem; font-size: .8rem; color: var(--muted); margin-top: .25rem; }
.outages { font-size: .9rem; margin-top: .6rem; width: auto; } .outages :is(th, td) { padding: .15rem 1.5rem .15rem 0; border: 0; } .outages caption { padding: 0; font-weight: 600; font-size: .9rem; color: var(--text); }
.sub { margin: .5rem 0 .35rem; } details { margin-top: .25rem; font-size: .92rem; } summary { cursor: pointer; color: var(--link); width: fit-content; }
.heat-0 { fill: var(--heat-0); } .heat-1 { fill: var(--heat-1); } .heat-2 { fill: var(--heat-2); }
.heat-3 { fill: var(--heat-3); } .heat-4 { fill: var(--heat-4); } .year a:is(:hover, :focus-visible, [aria-current]) rect { stroke: var(--text); stroke-width: 1.5; }
.big { font-size: 2rem; font-weight: 650; line-height: 1.1; letter-spacing: -.02em; margin: .1rem 0 .5rem; } .big small { font-size: .92rem; font-weight: 400; letter-spacing: 0; color: var(--muted); }
.bar { width: 100%; height: .5rem; } .bar .active { fill: var(--good); } .bar .inactive { fill: var(--idle); } .bar .other { fill: var(--warn); }
.split { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 .75rem; font-size: .88rem; margin: .35rem 0 .6rem; }
.sports th, .sports td { border: 0; padding: .12rem 0; vertical-align: middle; font-size: .92rem; } .sports caption { padding: .2rem 0; font-size: .85rem; } .sports .active { fill: var(--good); } .more-sports { font-size: .88rem; }
.rows dd { overflow-wrap: break-word; } .worker dl.rows { grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: .25rem 1.5rem; }
.sports th { max-width: 10rem; padding-right: .75rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.sports td { width: 99%; } .sports td.number { width: auto; text-align: right; padding-left: .75rem; } .sports td svg { width: 100%; height: .5rem; fill: var(--idle); }
/* Changes by day: time, a sign for the kind, the league, then each field with its old and its new value. */
.day { font-size: .95rem; padding-top: .45rem; margin: .45rem 0 .1rem; border-top: 1px solid var(--line); } .day .muted { font-size: .88rem; margin-left: .4rem; }
:is(.top, nav) + .day, .day:first-child { border: 0; margin-top: 0; padding-top: 0; }
.feed li { display: grid; grid-template-columns: 2.9rem 1.4rem minmax(0, 17rem) minmax(0, 1fr); gap: 0 .6rem; padding: .1rem 0; font-size: .93rem; line-height: 1.45; align-items: baseline; }
.feed.precise li { grid-template-columns: 4.2rem 1.4rem minmax(0, 17rem) minmax(0, 1fr); } .feed time { color: var(--muted); } .feed .fold .who { grid-column: 3 / -1; }
.past time { color: var(--text); } .past li { grid-template-columns: 1.5rem minmax(0, 1fr); padding: .2rem 0; } .more { grid-column: 4; }
.glyph { width: 1.2rem; height: 1.2rem; border-radius: 5px; display: grid; place-items: center; font-weight: 700; font-size: .8rem; line-height: 1; background: color-mix(in srgb, var(--idle) 20%, transparent); color: var(--muted); }
.feed :is(.is-added, .is-restored) .glyph { background: color-mix(in srgb, var(--good) 18%, transparent); color: var(--good-text); }
.feed .is-removed .glyph { background: color-mix(in srgb, var(--bad) 14%, transparent); color: var(--bad-text); }
.feed .who a { font-weight: 550; } .feed .who .muted { font-size: .9rem; }
.diff { display: grid; grid-template-columns: 10.5rem minmax(0, 1fr); gap: 0 .6rem; } .diff dt { color: var(--muted); }
del { color: var(--muted); text-decoration-color: color-mix(in srgb, var(--bad) 60%, transparent); } ins { text-decoration: none; font-weight: 600; }
dl.fields { display: grid; grid-template-columns: minmax(10.75rem, max-content) minmax(0, 1fr); gap: .3rem 1rem; font-size: .95rem; margin-top: .3rem; }
dl.fields dt { color: var(--muted); } dl.fields dd { white-space: pre-wrap; }
.group { margin-top: 1rem; color: var(--muted); font-weight: 600; font-size: .85rem; }
.sql { display: block; white-space: pre-wrap; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; padding: .5rem .7rem; margin-top: .35rem; user-select: all; }
/* Faces of leagues and sports, and seasons. */
.face, .sport { display: inline-block; vertical-align: -.4rem; flex: none; } .face text { fill: #fff; font-weight: 650; } .sport { vertical-align: -3px; fill: none; stroke: var(--muted); stroke-width: 1.2; stroke-linecap: round; stroke-linejoin: round; }
.path { font-size: .88rem; } .head { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; margin: .4rem 0 .5rem; } .head > div { flex: 1 1 14rem; min-width: 0; } .head .end { margin-left: auto; text-align: right; }
.band circle { fill: var(--idle); } .band text { font-weight: 500; } .phase-pre { fill: var(--pre); } .phase-on { fill: var(--on); } .phase-late { fill: var(--late); } .phase-off { fill: var(--off); }
.chart .in-pre { fill: var(--in-pre); } .chart .in-on { fill: var(--in-on); } .chart .in-late { fill: var(--in-late); }
.columns { display: flex; flex-wrap: wrap; gap: .6rem 1.5rem; } .columns > div { flex: 1 1 15rem; } .columns > div:first-child { flex: 3 1 26rem; } .in-season { font-size: .92rem; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: .15rem 1.5rem; margin-top: .2rem; } .in-season li { display: flex; gap: .5rem; align-items: baseline; } .in-season .muted a { color: inherit; }
.bands li { display: grid; grid-template-columns: minmax(0, 22rem) minmax(0, 1fr); gap: 0 1rem; align-items: center; padding: .12rem 0; font-size: .92rem; } .bands p { display: flex; gap: .5rem; align-items: center; } .bands small { color: var(--muted); } .bands .band { width: 100%; } .bands .band text { font-size: 17px; } .bands li + li .band { height: 14px; }
/* Forms, and links that filter, sort and turn pages. */
.line { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin-bottom: .6rem; } .line:last-child { margin-bottom: 0; } .line .end { margin-left: auto; order: 1; font-size: .88rem; }
form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; font-size: .9rem; }
input, select, button { font: inherit; color: var(--text); background: var(--ground); border: 1px solid var(--field); border-radius: 6px; padding: .2rem .5rem; max-width: 100%; height: 2.2rem; }
select { max-width: 11rem; } [type=search] { flex: 1 1 10rem; max-width: 22rem; min-width: 0; } .chosen { border: 1px solid var(--link); border-radius: 99px; padding: .1rem .6rem; }
button { background: var(--link); border-color: var(--link); color: var(--card); font-weight: 600; cursor: pointer; }
.pages { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin: .5rem 0; font-size: .9rem; }
.pages a { display: inline-block; border: 1px solid var(--line); border-radius: 99px; padding: .15rem .75rem; } nav:first-child > .pages { margin-top: 0; }
@media (min-width: 40.01rem) { table.wide { table-layout: fixed; } .wide th:nth-child(1) { width: 34%; } .wide th:nth-child(2) { width: 14%; } .wide th:nth-child(3) { width: 14%; } .wide th:nth-child(4) { width: 18%; } .wide th:nth-child(5) { width: 9%; } }
/* Phones, paper, and people who need more contrast. */
@media (max-width: 60rem) { .scroll svg { width: 900px; } .feed li, .feed.precise li { grid-template-columns: auto 1.4rem minmax(0, 1fr); } .feed .diff, .more { grid-column: 3; } }
@media (max-width: 40rem) {
  header { padding: .6rem 1rem; gap: .25rem .5rem; } .pill { font-size: .8rem; gap: .3rem; } .ends span:nth-child(2):not(:last-child) { display: none; } main, footer { padding-inline: .75rem; } header nav { order: 1; width: 100%; } header nav a { padding: .5rem .75rem; }
  section { padding: 1rem; }
  .state { grid-template-columns: auto minmax(0, 1fr); padding: 1rem; gap: 0 .75rem; } .state h1 { font-size: 1.3rem; } .icon { width: 34px; height: 34px; align-self: start; }
  .shares { grid-column: 1 / -1; text-align: left; margin-top: .75rem; } .shares dl { justify-content: space-between; }
  .line .end { order: 0; } .line h1 { font-size: 1.3rem; } .line form { flex: 1 1 100%; } form select { flex: 1 1 26%; min-width: 0; } form [type=date] { flex: 1; }
  .feed .diff { display: block; } .diff :is(dt, dd) { display: inline; } .diff dt { margin-right: .5rem; } .diff dd::after { content: "\\A"; white-space: pre; } .day .muted { display: block; margin: 0; }
  .outages thead { position: absolute; left: -9999px; } .outages tr { display: block; padding: .15rem 0; } .outages td { display: inline; padding: 0; } .outages td + td::before { content: " · "; }
  .bands li { grid-template-columns: minmax(0, 1fr); gap: .25rem; padding: .25rem 0; } .bands li:first-child { display: none; }
  .top > .end { margin-left: 0; } .attention p { grid-template-columns: minmax(0, 1fr); }
  .scroll { margin-inline: -1rem; padding-inline: 1rem; }
  dl.fields { grid-template-columns: minmax(0, 1fr); gap: 0; } dl.fields dd { margin-bottom: .4rem; }
  .count nav { display: none; } table.wide thead { position: absolute; left: -9999px; }
  table.wide tr { display: block; border-top: 1px solid var(--line); padding: .5rem 0; } table.wide th { display: block; border: 0; padding: 0; }
  table.wide td { display: inline; border: 0; padding: 0; color: var(--muted); font-size: .9rem; } table.wide td + td:not(:empty)::before { content: " · "; }
  table.wide td.number { padding: 0; } table.wide td.priority:not(:empty)::before { content: " · priority "; }
}
@media print {
  :root { color-scheme: light; --ground: #fff; }
  header nav, form, .pages, .skip, details:not([open]), .end a { display: none; }
  .state, .feed li, tr { break-inside: avoid; } table.wide { table-layout: auto; } table.wide { font-size: .85rem; } table.wide :is(td:nth-child(2), td:nth-child(3)) { overflow-wrap: break-word; } .wide .number { padding-right: .75rem; } main { display: block; } main > * { margin-bottom: .75rem; }
  .scroll svg { width: 100%; } time { font-size: 0; } time::after { content: attr(title); font-size: .85rem; } .feed time ~ .muted time { display: none; } .feed li, .feed.precise li { grid-template-columns: 11rem 1.4rem minmax(0, 12rem) minmax(0, 1fr); } .feed .diff { display: block; } .diff :is(dt, dd) { display: inline; } .diff dt { margin-right: .5rem; } .diff dd::after { content: "\\A"; white-space: pre; } .feed .diff, .more { grid-column: 4; } .past time { color: var(--text); } .past li { grid-template-columns: 1.5rem minmax(0, 1fr); } a { color: inherit; }
  svg, .glyph, .state { print-color-adjust: exact; }
}
@media (prefers-contrast: more) { :root { --line: var(--muted); } }
@media (forced-colors: active) { .chart rect, .bar rect, .sports rect { forced-color-adjust: none; } }
`;

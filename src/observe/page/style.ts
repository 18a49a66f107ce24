import type { Verdict } from '../verdict.ts';

/** Uses no external resources, which the Content-Security-Policy would block. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f5f6f8; --card: #ffffff; --line: #d8dde3; --text: #1b1f24; --muted: #57606a;
  --good: #1a7f37; --good-ground: #e6f4ea; --bad: #b3261e; --bad-ground: #fdeceb; --warn: #8a5a00; --warn-ground: #fff4dc;
  --link: #0b5cad; --bar: #8aa4bf; --heat-0: #e9ecf0; --heat-1: #b7d8c0; --heat-2: #74b889; --heat-3: #2f8f52; --heat-4: #14612f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1318; --card: #171c23; --line: #2d353f; --text: #e6eaef; --muted: #a1abb7;
    --good: #56c271; --good-ground: #12301c; --bad: #ff8f87; --bad-ground: #3b1715; --warn: #e3b341; --warn-ground: #352805;
    --link: #79b8ff; --bar: #5f7892; --heat-0: #232a33; --heat-1: #1d4a2c; --heat-2: #2a7142; --heat-3: #3d9a5b; --heat-4: #6fd08c;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; overflow-wrap: break-word; }
table.wide th[scope=row], .feed, dd, h1, .why, code { overflow-wrap: anywhere; }
a { color: var(--link); }
a:focus-visible, input:focus-visible, select:focus-visible, button:focus-visible, summary:focus-visible, [tabindex]:focus-visible {
  outline: 3px solid var(--link); outline-offset: 2px; border-radius: 4px;
}
.skip { position: absolute; left: -9999px; } .skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem 1rem; z-index: 1; }
header, main, footer { max-width: 74rem; margin: 0 auto; padding: 1rem; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: center; }
header nav { display: flex; flex-wrap: wrap; gap: .25rem; } header nav a { padding: .4rem .75rem; border-radius: 8px; text-decoration: none; }
header nav a[aria-current] { background: var(--card); color: var(--text); box-shadow: 0 0 0 1px var(--line); }
.asof { margin: 0 0 0 auto; color: var(--muted); font-size: .85rem; font-variant-numeric: tabular-nums; }
main { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; padding-block: .25rem; }
main > :where(section, div, dl, h1) { margin: 0; }
@media (min-width: 58rem) { main { grid-template-columns: repeat(2, minmax(0, 1fr)); align-items: start; } main > :not(.half) { grid-column: 1 / -1; } }
header .brand { font-weight: 700; font-size: 1.15rem; text-decoration: none; color: var(--text); }
footer, .muted, .cut { color: var(--muted); font-size: .9rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 0 0 .75rem; }
section, .state { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1rem 1.25rem; }
section > :last-child { margin-bottom: 0; } .half > section + section { margin-top: 1rem; }
.state { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 1rem; align-items: start; padding: 1.1rem 1.4rem; }
.state h1, .state h2 { font-size: 1.55rem; line-height: 1.25; letter-spacing: -.01em; margin: 0; }
.state p { margin: .3rem 0 0; } .state .facts { color: var(--muted); }
.state .why { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .5rem .8rem; margin-top: .75rem; }
.state.good { background: var(--good-ground); border-color: var(--good); } .state.bad { background: var(--bad-ground); border-color: var(--bad); }
.state.warning { background: var(--warn-ground); border-color: var(--warn); } .state.lost { border-color: var(--muted); }
.icon { margin-top: .1rem; }
main.dim > :not(#lost) { opacity: .6; filter: grayscale(1); } main.dim > #state { display: none; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .75rem; padding: 0; }
.tiles div { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: .75rem 1rem; }
.tiles dt { color: var(--muted); font-size: .9rem; } .tiles dd { margin: 0; font-size: 1.35rem; font-weight: 600; }
.tiles dd.bad { color: var(--bad); } .tiles code { font-size: 1.1rem; white-space: nowrap; }
.tiles dd small { display: block; font-size: .85rem; font-weight: 400; color: var(--muted); }
.scroll { overflow-x: auto; direction: rtl; } .scroll svg { direction: ltr; }
svg { display: block; }
.polls { width: 100%; height: auto; } .ends text { fill: var(--muted); font-size: .85rem; } .polls .none { stroke: var(--line); }
.swatch.polls { width: 12px; height: 12px; }
.polls .changed { fill: var(--good); } .polls .unchanged { fill: var(--bar); } .polls .held { fill: var(--warn); }
.polls .failed { fill: var(--bad); } .polls .interrupted { fill: var(--line); } .polls .running { fill: var(--link); }
.year { width: 100%; height: auto; min-width: 42rem; }
.year rect { fill: var(--heat-0); } .year .heat-1 { fill: var(--heat-1); } .year .heat-2 { fill: var(--heat-2); }
.year .heat-3 { fill: var(--heat-3); } .year .heat-4 { fill: var(--heat-4); } .year text { fill: var(--muted); font-size: 10px; }
.key { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: .5rem 0 0; padding: 0; list-style: none; font-size: .85rem; color: var(--muted); }
.key svg { display: inline-block; vertical-align: -1px; margin-right: .35rem; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
caption { text-align: left; color: var(--muted); font-size: .9rem; padding-bottom: .5rem; }
th, td { text-align: left; padding: .4rem .75rem .4rem 0; border-top: 1px solid var(--line); vertical-align: top; }
thead th { border-top: 0; color: var(--muted); font-weight: 600; font-size: .85rem; }
td.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
time { white-space: nowrap; }
.tag { display: inline-block; white-space: nowrap; border: 1px solid var(--line); border-radius: 99px; padding: 0 .6rem; font-size: .85rem; max-width: 100%; }
.tag.added, .tag.restored, .tag.good { color: var(--good); border-color: currentColor; }
.tag.removed, .tag.bad { color: var(--bad); border-color: currentColor; }
.tag.held, .tag.warn { color: var(--warn); border-color: currentColor; }
ol.feed { list-style: none; margin: 0; padding: 0; }
ol.feed li { border-top: 1px solid var(--line); padding: .5rem 0; display: grid; grid-template-columns: 5.2rem minmax(0, 1fr) auto; gap: 0 .6rem; align-items: baseline; }
ol.feed li > p { grid-column: 2 / -1; } ol.feed .tag { justify-self: start; }
ol.feed li:first-child { border-top: 0; padding-top: 0; }
ol.feed p { margin: .15rem 0 0; font-size: .9rem; }
del { color: var(--muted); } ins { text-decoration: none; font-weight: 600; }
form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin: 0 0 .75rem; }
label { font-size: .85rem; color: var(--muted); display: grid; gap: .2rem; max-width: 100%; }
select { width: 12rem; }
input, select, button { font: inherit; color: var(--text); background: var(--ground); border: 1px solid var(--muted); border-radius: 6px; padding: .35rem .6rem; max-width: 100%; }
form input, form select, form button { height: 2.4rem; }
form label:has([type=search]) { flex: 1 1 14rem; max-width: 24rem; } [type=search] { width: 100%; }
button { background: var(--link); border-color: var(--link); color: var(--card); font-weight: 600; cursor: pointer; }
.pages { align-items: center; }
.facets, .pages { display: flex; flex-wrap: wrap; gap: .4rem; margin: .75rem 0; padding: 0; list-style: none; }
.facets a, .pages a { display: inline-block; border: 1px solid var(--line); border-radius: 99px; padding: .1rem .7rem; text-decoration: none; font-size: .9rem; }
.facets a[aria-current] { background: var(--link); border-color: var(--link); color: var(--card); }
dl.fields { display: grid; grid-template-columns: minmax(9rem, max-content) 1fr; gap: .35rem 1rem; margin: 0; }
dl.fields dt { color: var(--muted); } dl.fields dd { margin: 0; white-space: pre-wrap; }
code { font-size: .9em; }
@media (max-width: 40rem) {
  header nav { order: 1; width: 100%; }
  .state { padding: .9rem 1rem; gap: 0 .75rem; } .state h1, .state h2 { font-size: 1.3rem; } .icon { width: 32px; height: 32px; }
  .tiles { grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); } .tiles dd { font-size: 1.15rem; } .tiles code { font-size: 1rem; }
  dl.fields { grid-template-columns: 1fr; } dl.fields dd { margin-bottom: .5rem; }
  table.wide thead { position: absolute; left: -9999px; }
  table.wide tr { display: block; border-top: 1px solid var(--line); padding: .5rem 0; }
  table.wide td, table.wide th { display: inline-block; border: 0; padding: 0 .75rem 0 0; }
}
@media print { header nav, form, .facets, .pages { display: none } section { break-inside: avoid } }
@media (prefers-contrast: more) { :root { --line: var(--muted); } }
`;

/** `lost` means that the page cannot reach the worker. */
type IconName = Verdict['state'] | 'lost';

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">`;
/** The shapes differ, so that people with colour blindness can tell the icons apart. */
const SHAPES: Readonly<Record<IconName, string>> = {
  good: '<circle cx="16" cy="16" r="15" fill="#1a7f37" stroke="none"/><path d="M9.5 16.5l4.5 4.5 8.5-10"/>',
  warning: '<path d="M16 3.5L29.5 28h-27z" fill="#9a6700" stroke="#9a6700"/><path d="M16 12v7m0 4.5v.01"/>',
  bad: '<path d="M10.2 1.5h11.6l8.7 8.7v11.6l-8.7 8.7H10.2l-8.7-8.7V10.2z" fill="#b3261e" stroke="none"/><path d="M11 11l10 10m0-10L11 21"/>',
  loading:
    '<circle cx="16" cy="16" r="13.5" stroke="#768390"/><path d="M10 16v.01M16 16v.01M22 16v.01" stroke="#768390" stroke-width="4"/>',
  lost: '<circle cx="16" cy="16" r="15" fill="#57606a" stroke="none"/><path d="M11.5 12.5a4.5 4.5 0 1 1 6.4 4c-1.2.6-1.9 1.4-1.9 2.9m0 4.6v.01"/>',
};

export function iconPath(name: IconName): string {
  return `/icon-${name}.svg`;
}

export const ICONS = Object.entries(SHAPES).map(([name, shape]) => ({
  path: iconPath(name as IconName),
  svg: `${SVG}${shape}</svg>`,
}));

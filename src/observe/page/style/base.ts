/** The page as a whole: its grid, its header and footer, its cards, text and tables. */
export const BASE = `
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
table.wide th[scope=row], .feed, dd, h1, .attention, code { overflow-wrap: anywhere; }
h1, h2, h3, p, dl, dd, ol, ul { margin: 0; padding: 0; } ol, ul { list-style: none; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
p a:not(.plain *, .plain) { text-decoration: underline; }
:is(a, input, button, summary, [tabindex]):focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -9999px; } .skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem 1rem; z-index: 1; }
header, main, footer { max-width: 72rem; margin: 0 auto; padding: 0 1.25rem; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: center; min-height: 3.4rem; }
.brand { font-weight: 650; font-size: 1.1rem; color: var(--text); }
header nav { display: flex; flex-wrap: wrap; gap: .25rem; } header nav a { padding: .4rem .75rem; border-radius: 8px; color: var(--muted); font-weight: 500; }
header nav a[aria-current] { background: var(--card); color: var(--text); box-shadow: 0 0 0 1px var(--line); }
.asof { margin: 0 0 0 auto; color: var(--muted); font-size: .85rem; }
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
.tag { display: inline-block; white-space: nowrap; border: 1px solid var(--line); border-radius: 99px; padding: 0 .6rem; font-size: .85rem; font-weight: 400; max-width: 100%; }
.tag.good { color: var(--good-text); border-color: currentColor; }
.tag.removed, .tag.bad { color: var(--bad-text); border-color: currentColor; }
.tag.held, .tag.warn { color: var(--warn-text); border-color: currentColor; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
caption { text-align: left; color: var(--muted); font-size: .9rem; padding-bottom: .5rem; }
th, td { text-align: left; padding: .4rem .75rem .4rem 0; border-top: 1px solid var(--line); vertical-align: top; font-weight: 400; }
thead th { border-top: 0; color: var(--muted); font-weight: 600; font-size: .85rem; }
td.number { white-space: nowrap; }
dl.rows { display: grid; gap: .25rem; font-size: .92rem; }
dl.rows > div { display: grid; grid-template-columns: 5.4rem minmax(0, 1fr); gap: 0 .75rem; } dl.rows dt { color: var(--muted); }
dl.rows small { display: block; font-size: .88em; font-weight: 400; color: var(--muted); } dl.rows .bad { color: var(--bad-text); font-weight: 600; }
`;

/** The state of the data on top of every home page, and its neighbours: what to do, shares of fresh time, checks. */
export const STATE = `
.state { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: .25rem 1rem; align-items: center; padding: 1.1rem 1.5rem; }
.state.good { background: var(--good-ground); border-color: color-mix(in srgb, var(--good) 35%, var(--card)); }
.state.warning { background: var(--warn-ground); border-color: color-mix(in srgb, var(--warn) 45%, var(--card)); }
.state.bad { background: var(--bad-ground); border-color: color-mix(in srgb, var(--bad) 45%, var(--card)); }
.state.lost { border-color: var(--muted); }
.state h1, .state h2 { font-size: 1.6rem; line-height: 1.2; font-weight: 650; letter-spacing: -.015em; }
.state .what p { margin-top: .2rem; color: var(--muted); }
.shares { display: flex; gap: 1.75rem; text-align: right; }
.shares dt { font-size: .8rem; color: var(--muted); } .shares dd { font-size: 1.35rem; font-weight: 600; line-height: 1.2; white-space: nowrap; }
.shares dd small { font-size: .8rem; font-weight: 400; color: var(--muted); }
.attention, .checks { grid-column: 1 / -1; margin-top: .8rem; }
.attention { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .2rem 1rem; }
.attention > li { padding: .6rem 0; } .attention > li + li { border-top: 1px solid var(--line); }
.attention b { font-weight: 650; } .attention p + p { margin-top: .15rem; }
.checks { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font-size: .88rem; color: var(--muted); border-top: 1px solid color-mix(in srgb, var(--text) 10%, transparent); padding-top: .6rem; }
.checks li::before { content: "✓"; color: var(--good-text); font-weight: 700; margin-right: .35rem; }
.checks .open { color: var(--text); font-weight: 600; } .checks .open::before { content: "!"; color: var(--warn-text); }
.checks .bad { color: var(--bad-text); font-weight: 600; } .checks .bad::before { content: "✗"; color: var(--bad-text); }
.chips { display: flex; flex-wrap: wrap; gap: .35rem; margin-top: .5rem; } .chips li { border: 1px solid var(--line); border-radius: 6px; padding: .05rem .55rem; font-size: .88rem; max-width: 100%; }
#notices { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem; align-items: start; } #notices section { margin: 0; }
#notices p { margin: .3rem 0; font-size: .92rem; } #notices h3 { margin-top: .6rem; } #notices li + li { margin-top: .15rem; } #notices .chips li { margin: 0; }
main.dim > :not(#lost) { filter: grayscale(1); --card: var(--ground); --text: var(--muted); --link: var(--muted); --good-text: var(--muted); --warn-text: var(--muted); --bad-text: var(--muted); color: var(--text); } main.dim > #state { display: none; }
`;

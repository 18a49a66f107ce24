/** Changes by poll: a sign for the kind, the league, then each field with its old and its new value. */
export const FEED = `
.poll { display: flex; flex-wrap: wrap; gap: 0 .5rem; align-items: baseline; padding-top: .5rem; margin-top: .45rem; border-top: 1px solid var(--line); }
.top + .poll { border: 0; margin: 0; padding-top: 0; }
.feed li { display: grid; grid-template-columns: 1.5rem minmax(0, 1fr); gap: 0 .6rem; padding: .2rem 0; }
.glyph { width: 1.4rem; height: 1.4rem; border-radius: 6px; display: grid; place-items: center; font-weight: 700; font-size: .85rem; background: color-mix(in srgb, var(--idle) 20%, transparent); color: var(--muted); }
.feed :is(.is-added, .is-restored) .glyph { background: color-mix(in srgb, var(--good) 18%, transparent); color: var(--good-text); }
.feed .is-removed .glyph { background: color-mix(in srgb, var(--bad) 14%, transparent); color: var(--bad-text); }
.feed .who a { font-weight: 550; } .feed .who .muted { font-size: .9rem; }
.diff { display: grid; grid-template-columns: fit-content(11rem) minmax(0, 1fr); gap: 0 .9rem; font-size: .9rem; } .diff dt { color: var(--muted); min-width: 9.5rem; }
del { color: var(--muted); text-decoration-color: color-mix(in srgb, var(--bad) 60%, transparent); } ins { text-decoration: none; font-weight: 600; }
dl.fields { display: grid; grid-template-columns: minmax(10.75rem, max-content) minmax(0, 1fr); gap: .3rem 1rem; font-size: .95rem; margin-top: .3rem; }
dl.fields dt { color: var(--muted); } dl.fields dd { white-space: pre-wrap; }
.group { margin-top: 1rem; color: var(--muted); font-weight: 600; font-size: .85rem; }
.sql { display: block; white-space: pre-wrap; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; padding: .5rem .7rem; margin-top: .35rem; user-select: all; }
`;

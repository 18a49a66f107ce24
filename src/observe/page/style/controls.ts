/** Forms, and links that filter, sort and turn pages. */
export const CONTROLS = `
form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin: 0 0 .75rem; }
label { font-size: .85rem; color: var(--muted); display: grid; gap: .2rem; max-width: 100%; }
input, button { font: inherit; color: var(--text); background: var(--ground); border: 1px solid var(--field); border-radius: 6px; padding: .35rem .7rem; max-width: 100%; height: 2.4rem; }
label:has([type=search]) { flex: 1 1 14rem; max-width: 26rem; } [type=search] { width: 100%; }
button { background: var(--link); border-color: var(--link); color: var(--card); font-weight: 600; cursor: pointer; }
.choices, .pages { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin: .5rem 0; font-size: .9rem; }
.choices a, .pages a { display: inline-block; border: 1px solid var(--line); border-radius: 99px; padding: .15rem .75rem; }
.choices a[aria-current] { background: var(--link); border-color: var(--link); color: var(--card); }
.choices a[aria-current] .muted { color: inherit; } .choices .name { color: var(--muted); } nav:first-child > .pages { margin-top: 0; }
@media (min-width: 40rem) { .choices:has(.name) { padding-left: 3.6rem; } .choices .name { margin-left: -3.6rem; width: 3.2rem; } }
.choices details { margin: 0; } .choices details[open] { flex-basis: 100%; } .choices details ul { display: flex; flex-wrap: wrap; gap: .4rem; margin-top: .4rem; }
`;

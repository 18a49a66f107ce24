/** Phones, paper, and people who need more contrast. */
export const MEDIA = `
@media (max-width: 60rem) { .scroll svg { width: 900px; } }
@media (max-width: 40rem) {
  header { padding: .6rem 1rem; } main, footer { padding-inline: .75rem; } header nav { order: 1; width: 100%; } header nav a { padding: .5rem .75rem; }
  section { padding: 1rem; }
  .state { grid-template-columns: auto minmax(0, 1fr); padding: 1rem; gap: 0 .75rem; } .state h1, .state h2 { font-size: 1.3rem; } .icon { width: 34px; height: 34px; align-self: start; }
  .shares { grid-column: 1 / -1; justify-content: space-between; text-align: left; margin-top: .75rem; }
  .top > .end { margin-left: 0; }
  .scroll { margin-inline: -1rem; padding-inline: 1rem; }
  .diff { grid-template-columns: minmax(0, 1fr); } .diff dd { padding-left: .9rem; }
  dl.fields { grid-template-columns: minmax(0, 1fr); gap: 0; } dl.fields dd { margin-bottom: .4rem; }
  table.wide thead { position: absolute; left: -9999px; }
  table.wide tr { display: block; border-top: 1px solid var(--line); padding: .5rem 0; } table.wide th { display: block; border: 0; padding: 0; }
  table.wide td { display: inline; border: 0; padding: 0; color: var(--muted); font-size: .9rem; } table.wide td + td:not(:empty)::before { content: " · "; }
  table.wide td.priority:not(:empty)::before { content: " · priority "; }
}
@media print {
  :root { color-scheme: light; --ground: #fff; }
  header nav, form, .choices, .pages, .skip, details:not([open]), .end a { display: none; }
  section, .state, .feed li { break-inside: avoid; } main { display: block; } main > * { margin-bottom: .75rem; }
  .scroll svg { width: 100%; } time { font-size: 0; } time::after { content: attr(title); font-size: .85rem; } :is(.poll, .feed) time ~ .muted time { display: none; } a { color: inherit; }
  svg, .glyph, .state { print-color-adjust: exact; }
}
@media (prefers-contrast: more) { :root { --line: var(--muted); } }
@media (forced-colors: active) { .chart rect, .bar rect, .sports rect { forced-color-adjust: none; } }
`;

import { html } from 'hono/html';
import type { Verdict } from '../verdict.ts';
import { iconPath } from './icon.ts';
import { SIGNS } from './tab.ts';
import { type Html, timeOfDay } from './words.ts';

export type LayoutOptions = {
  readonly title: string;
  readonly state: Verdict['state'];
  /** Which of the pages it is, for the links at the top. */
  readonly path: string;
  readonly now: number;
  /** The paths of the style sheet and of the script. */
  readonly style: string;
  readonly script: string;
  readonly version: string;
};

/** The whole document round what a page has to say: its parts, each with a name for the script. */
export function layOut({ title, state, path, now, style, script, version }: LayoutOptions, main: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${SIGNS[state]} ${title} · league-sync</title>
<link rel="stylesheet" href="${style}">
<script src="${script}" defer></script>
<link rel="icon" href="${iconPath(state)}" type="image/svg+xml">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="/">league-sync</a>
<nav aria-label="Pages">${link('/', 'Status', path)}${link('/changes', 'Changes', path)}${link('/#leagues', 'Leagues', path)}</nav>
<p class="asof">as of <span id="asof">${timeOfDay(now, now)}</span></p>
</header>
<main id="main" data-now="${new Date(now).toISOString()}">
<div class="state lost" id="lost" role="alert" hidden>
<img class="icon" src="${iconPath('lost')}" alt="" width="44" height="44">
<div><h2>No word from the worker</h2>
<p>This page cannot reach it and keeps trying. What you see is as of <span id="lost-asof"></span>.</p></div>
</div>
${main}
</main>
<footer>league-sync ${version} · times are UTC · <a href="/status.json">status.json</a> · <a href="/metrics">metrics</a></footer>
</body>
</html>`;
}

function link(href: string, label: string, path: string): Html {
  return html`<a href="${href}"${href === path ? html` aria-current="page"` : ''}>${label}</a> `;
}

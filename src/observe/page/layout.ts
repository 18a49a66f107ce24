import { html } from 'hono/html';
import type { Html } from './words.ts';

export type LayoutOptions = {
  readonly title: string;
  /** Where the style sheet lies, and the script. */
  readonly style: string;
  readonly script: string;
  readonly version: string;
};

/** The whole document round what a page has to say. */
export function layOut({ title, style, script, version }: LayoutOptions, main: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · league-sync</title>
<link rel="stylesheet" href="${style}">
<script src="${script}" defer></script>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="/">league-sync</a>
<nav aria-label="Pages"><a href="/">Status</a> · <a href="/changes">Changes</a> · <a href="/#leagues">Leagues</a></nav>
</header>
<main id="main">
${main}
</main>
<footer>league-sync ${version} · times are UTC · <a href="/status.json">status.json</a> · <a href="/metrics">metrics</a></footer>
</body>
</html>`;
}

import { hash } from 'node:crypto';
import { html } from 'hono/html';
import { formatAge } from '../../duration.ts';
import type { Monitor } from '../monitor.ts';
import type { Reply, Routes } from '../reply.ts';
import type { Verdict } from '../verdict.ts';
import { count, countOf, type Html, timeOfDay } from './html.ts';
import { SCRIPT } from './script.ts';
import { ICONS, iconPath, STYLE } from './style.ts';

/** Before every title, so that a narrow tab still says it. */
const SIGNS: Readonly<Record<Verdict['state'], string>> = { good: '✓', warning: '!', loading: '…', bad: '✗' };

// Another name for other content, so that browsers may keep each for ever.
const STYLE_PATH = `/style-${hash('sha256', STYLE, 'hex').slice(0, 12)}.css`;
const SCRIPT_PATH = `/page-${hash('sha256', SCRIPT, 'hex').slice(0, 12)}.js`;
const FOR_EVER = 'public, max-age=31536000, immutable';
/** So that a page that cannot reach the worker any more has the icon that says so. */
const A_DAY = 'public, max-age=86400';

/** What the pages load. */
export const ASSETS: Routes = {
  [STYLE_PATH]: () => replyAsset('text/css; charset=utf-8', FOR_EVER, STYLE),
  [SCRIPT_PATH]: () => replyAsset('text/javascript; charset=utf-8', FOR_EVER, SCRIPT),
  ...Object.fromEntries([...ICONS].map(([path, svg]) => [path, () => replyAsset('image/svg+xml', A_DAY, svg)])),
};

function replyAsset(type: string, cache: string, body: string): Reply {
  return { status: 200, headers: { 'Content-Type': type, 'Cache-Control': cache }, body };
}

/** What is around a page: its title, and its path if it is one of those linked at the top. */
export type Frame = { readonly title: string; readonly path?: string };

/** The whole document round what a page has to say: its parts, each with a name for the script. */
export function layOut({ title, path }: Frame, main: Html, monitor: Monitor, now: number): string {
  const { state } = monitor.verdict();
  const link = (href: string, label: string) =>
    html`<a href="${href}"${href === path ? html` aria-current="page"` : ''}>${label}</a> `;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${SIGNS[state]} ${title} · league-sync</title>
<link rel="stylesheet" href="${STYLE_PATH}">
<script src="${SCRIPT_PATH}" defer></script>
<link rel="icon" href="${iconPath(state)}" type="image/svg+xml">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="/">league-sync</a>
<nav aria-label="Pages">${link('/', 'Status')}${link('/changes', 'Changes')}${link('/#leagues', 'Leagues')}</nav>
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
<footer>league-sync ${monitor.settings.version} · times are UTC · <a href="/status.json">status.json</a> · <a href="/metrics">metrics</a></footer>
</body>
</html>`.toString();
}

/** How things stand, as short as the title of a tab has to be: `133 leagues`, `44 held`, `43 min old`. */
export function sumUp(monitor: Monitor): string {
  const { ready, state, headline, reasons } = monitor.verdict();
  const { held_removals: held = 0, open_rejections: rejected = 0, live_leagues: live = 0 } = monitor.counts() ?? {};
  const failures = monitor.consecutiveFailures() ?? 0;
  if (ready) {
    if (failures > 0) return `${countOf(failures, 'poll')} failed`;
    if (held > 0) return `${count(held)} held`;
    return rejected > 0 ? `${count(rejected)} rejected` : countOf(live, 'league');
  }
  const gravest = reasons[0]?.reason ?? 'starting';
  if (state === 'loading' && gravest !== 'starting') return 'loading';
  return {
    starting: 'starting',
    'no-good-poll': 'no data yet',
    'credentials-refused': 'credentials refused',
    database: headline.replace(/^The /, ''),
    stale: formatAge(monitor.lastSuccess()?.ageMs ?? 0).replace(/ ago$/, ' old'),
  }[gravest];
}

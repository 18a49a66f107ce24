import { hash } from 'node:crypto';
import { html } from 'hono/html';
import { escapeControls } from '../../terminal/style.ts';
import { formatTimestamp, timeOfDay } from '../../time/clock.ts';
import type { Response, Routes } from '../server.ts';
import { briefHeadline, type Verdict } from '../verdict.ts';
import type { State } from '../worker-state.ts';
import { SCRIPT, STYLE } from './files.ts';
import { type Html, relativeTime } from './html.ts';

/** HTML does not allow these, browsers show nothing for them, and a terminal would obey them. */
const CONTROLS = /(?![\t\n\r])\p{Cc}/gu;

/** These signs begin the title, so that even a narrow tab shows the state. */
const SIGNS: Readonly<Record<Verdict['state'], string>> = { good: '✓', warning: '!', loading: '…', bad: '✗' };

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

export const iconPath = (name: Verdict['state']): string => `icon-${name}.svg`;

// The names of the files change with their content, so that browsers may cache the files forever.
const STYLE_PATH = `style-${hash('sha256', STYLE, 'hex').slice(0, 12)}.css`;
const SCRIPT_PATH = `page-${hash('sha256', SCRIPT, 'hex').slice(0, 12)}.js`;
const FOREVER = 'public, max-age=31536000, immutable';
/** Icons are cached, so that a page that cannot reach the worker can still show the icon for that state. */
const ONE_DAY = 'public, max-age=86400';

export const ASSETS: Routes = {
  [`/${STYLE_PATH}`]: () => replyAsset('text/css; charset=utf-8', FOREVER, STYLE),
  [`/${SCRIPT_PATH}`]: () => replyAsset('text/javascript; charset=utf-8', FOREVER, SCRIPT),
  ...Object.fromEntries(
    Object.entries(SHAPES).map(([name, shape]) => [
      `/icon-${name}.svg`,
      () => replyAsset('image/svg+xml', ONE_DAY, `${SVG}${shape}</svg>`),
    ]),
  ),
};

function replyAsset(type: string, cache: string, body: string): Response {
  return { status: 200, headers: { 'Content-Type': type, 'Cache-Control': cache }, body };
}

/** `path` is set for pages of the navigation; `status` defaults to 200, and `up`, the way home, to `./`. */
export type PageInfo = {
  readonly title: string;
  readonly path?: string;
  readonly status?: number;
  readonly up?: string;
};

export function renderPage(info: PageInfo, main: Html, worker: State): Response {
  const { title, path, status = 200, up = './' } = info;
  const { verdict, version, now } = worker;
  const { state } = verdict;
  const link = (href: string, label: string) =>
    html`<a href="${up}${href}"${href === path ? html` aria-current="page"` : ''}>${label}</a> `;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${SIGNS[state]} ${title} &middot; league-sync</title>
<link rel="stylesheet" href="${up}${STYLE_PATH}">
<noscript><meta http-equiv="refresh" content="${path === '' ? 30 : 300}"></noscript>
<script src="${up}${SCRIPT_PATH}" defer></script>
<link rel="icon" href="${up}${iconPath(state)}" type="image/svg+xml">
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<a class="brand" href="${up}">league-sync</a>
<nav aria-label="Site">${link('', 'Status')}${link('changes', 'Changes')}${link('leagues', 'Leagues')}</nav>
${renderPill(worker, up)}
</header>
<main id="main" data-now="${formatTimestamp(now)}" data-command="${worker.splitCommands('league-sync status').join('')}">
${path === '' || state !== 'bad' ? '' : renderStrip(worker, up)}${main}
</main>
<footer><span>league-sync ${version}</span> <span>all times are UTC</span> ${link('status.json', 'status.json')}${link('changes.json', 'changes.json')}${link('leagues.json', 'leagues.json')}${link('metrics', 'metrics')}</footer>
</body>
</html>`;
  return {
    status,
    headers: { 'Content-Type': 'text/html; charset=UTF-8' },
    body: page.toString().replace(CONTROLS, escapeControls),
  };
}

/** What is wrong, if anything is, and the age of the data, on every page. It leads to the whole verdict. */
function renderPill({ verdict, success, readFault, now }: State, up: string): Html {
  const age = success && !readFault && html` &middot; data ${relativeTime(now - success.ageMs, now, 'old')}`;
  const alt = verdict.state === 'warning' ? 'Needs attention:' : '';
  return html`<a class="pill" id="pill" href="${up}"><img src="${up}${iconPath(verdict.state)}" width="16" height="16" alt="${alt}"> <span>${briefHeadline(verdict)}${age}</span></a>`;
}

/** What a page of lists says above them while the data is not up to date. */
function renderStrip({ verdict, success, readFault, now }: State, up: string): Html {
  const shown = readFault ? 'The last good poll ended at' : 'What is shown is from';
  const age = success && html` ${shown} ${timeOfDay(success.at, now)}.`;
  return html`<p class="strip" data-part="strip"><b>${verdict.headline}.</b>${age} <a href="${up}">What to do</a></p>
`;
}

import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';
import { formatProblem, type Notice, type SettingsError } from '../errors.ts';
import { formatCount } from '../time/duration.ts';
import { escapeAdvice, isPipe, type Paint, type Terminal, type Tone } from './style.ts';

/** ASCII, and the signs that the program itself prints (· × … → − ● ↺): a column each. */
const NARROW = /^[ -~\u00a0\u00b7\u00d7\u2026\u2192\u21ba\u2212\u25cf]*$/;

/** How many columns a text takes at a terminal. */
export function widthOf(text: string): number {
  const shown = stripVTControlCharacters(text);
  return NARROW.test(shown) ? shown.length : loadStringWidth()(shown);
}

/** Loaded if needed, since it takes tens of milliseconds. The bundle has `require`; the sources, as modules, do not. */
function loadStringWidth(): typeof import('string-width').default {
  const { default: stringWidth }: typeof import('string-width') =
    typeof require === 'undefined' ? createRequire(import.meta.url)('string-width') : require('string-width');
  return stringWidth;
}

/** Splits text into graphemes, since an emoji may be several characters. Made if needed: it takes 4 MB. */
let segmenter: Intl.Segmenter | undefined;

/** Truncates a text to `width` columns. A truncated text ends with an ellipsis. */
export function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 0;
  segmenter ??= new Intl.Segmenter('en');
  for (const { segment } of segmenter.segment(text)) {
    used += widthOf(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

export function formatCell(text: string, tone: Tone, width: number, paint: Paint): string {
  const shown = truncate(text, width);
  return paint(tone, shown) + ' '.repeat(Math.max(0, width - widthOf(shown)));
}

/** Two words with this character between them stay on one line; `wrap` turns the character into a space. */
export const NO_BREAK = '\u00a0';

/** Kept on one line where it fits: a command to copy, such as `league-sync sync --dry-run`; `5 s ago`; a schedule. */
const PHRASE =
  /(?:LEAGUE_SYNC_DATABASE=(?:'[^']*'|\S+) )?(?:npx |(?<!\S)\S*\/)?\bleague-sync [a-z][a-z-]*(?: --database (?:'[^']*'|\S+))?(?: --[a-z-]+)?|\d (?:ms|s|min|h|d|[KMG]?B)\b(?: ago)?|"[\d*][\d*/, -]*"/g;

/** Breaks lines at spaces only: a longer word has a line of its own. Later lines begin with `indent` spaces. */
export function wrap(text: string, width: number, indent = 0): readonly string[] {
  const words = text
    .replaceAll(PHRASE, (phrase) => (phrase.length > width - indent ? phrase : phrase.replaceAll(' ', NO_BREAK)))
    .split(' ');
  const lines = [words.shift() ?? ''];
  let used = widthOf(lines[0] ?? '');
  for (const word of words) {
    const size = widthOf(word);
    const fits = used + 1 + size <= width;
    lines.push(fits ? `${lines.pop()} ${word}` : ' '.repeat(indent) + word);
    used = fits ? used + 1 + size : indent + size;
  }
  return lines.map((line) => line.replaceAll(NO_BREAK, ' '));
}

/** The lines after the first are as far right as the end of `lead`, or as `indent` says. */
export function hangingIndent(lead: string, text: string, width: number, indent = widthOf(lead)): readonly string[] {
  return wrap(lead.replaceAll(' ', NO_BREAK) + text, width, indent);
}

/** At a terminal, the notice is wrapped, and its fix starts a new line. In a pipe, the notice is one line. */
export function formatNotice(lead: string, notice: Notice, terminal: Terminal): string {
  const { message, fix } = notice;
  if (isPipe(terminal)) return lead + escapeAdvice(formatProblem(notice), terminal);
  const lines = hangingIndent(lead, escapeAdvice(message, terminal), terminal.columns);
  if (fix === undefined) return lines.join('\n');
  const fixLines = hangingIndent(`${' '.repeat(widthOf(lead))}→ `, escapeAdvice(fix, terminal), terminal.columns);
  return [...lines, ...fixLines].join('\n');
}

export function formatSettingsError(
  lead: string,
  { problems, warnings, advice }: SettingsError,
  terminal: Terminal,
): string {
  const lines = [...problems, ...warnings].map((problem) => formatNotice('  - ', problem, terminal));
  const start = advice === undefined ? [] : [formatNotice('', { message: `To start: ${advice}.` }, terminal)];
  return [formatNotice(lead, { message: 'the settings cannot be used:' }, terminal), ...lines, ...start].join('\n');
}

export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

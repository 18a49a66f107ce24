import widthOf from 'string-width';
import { formatProblem, type Notice, type SettingsError } from '../errors.ts';
import { escapeControls, type Paint, type Terminal, type Tone } from './style.ts';

export { widthOf };

/** Splits text into graphemes, since an emoji may be several characters. */
const SEGMENTS = new Intl.Segmenter('en');

/** Truncates a text to `width` columns. A truncated text ends with an ellipsis. */
export function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of SEGMENTS.segment(text)) {
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

/** Breaks lines at spaces only, so a word longer than `width` gets a line of its own. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines.push(`${lines.pop()} ${word}`);
    else lines.push(word);
  }
  return lines.map((line) => line.replaceAll(NO_BREAK, ' '));
}

export function hangingIndent(lead: string, text: string, width: number): readonly string[] {
  const indent = widthOf(lead);
  return wrap(text, width - indent).map((line, index) => (index === 0 ? lead : ' '.repeat(indent)) + line);
}

/** At a terminal, the notice is wrapped, and its fix starts a new line. Without a terminal, the notice is one line. */
export function formatNotice(lead: string, notice: Notice, terminal: Terminal | undefined): string {
  const { message, fix } = notice;
  if (terminal === undefined) return lead + escapeControls(formatProblem(notice));
  const lines = hangingIndent(lead, escapeControls(message), terminal.columns);
  if (fix === undefined) return lines.join('\n');
  const fixLines = hangingIndent(`${' '.repeat(widthOf(lead))}→ `, escapeControls(fix), terminal.columns);
  return [...lines, ...fixLines.map((line) => terminal.paint('warning', line))].join('\n');
}

export function formatSettingsError(
  { problems, warnings, advice }: SettingsError,
  terminal: Terminal | undefined,
): string {
  const lines = [...problems, ...warnings].map((problem) => formatNotice('  - ', problem, terminal));
  const start = advice === undefined ? [] : [formatNotice('', { message: `To start: ${advice}.` }, terminal)];
  return ['the settings cannot be used:', ...lines, ...start].join('\n');
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

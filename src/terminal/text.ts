import stringWidth from 'string-width';
import { formatFault, type Notice, type SettingsError } from '../errors.ts';
import { type Paint, type Terminal, type Tone, visible } from './style.ts';

/** How many columns of a terminal the text takes. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** What a reader takes for one character may be several. */
const SEGMENTS = new Intl.Segmenter('en');

/** The text as far as it fits, with an ellipsis if it does not. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of SEGMENTS.segment(text)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** The text in its colour, cut or filled up to this width. */
export function paintCell(text: string, tone: Tone, width: number, paint: Paint): string {
  const shown = cut(text, width);
  return paint(tone, shown) + ' '.repeat(Math.max(0, width - stringWidth(shown)));
}

/** Holds two words together where a text is wrapped. */
export const NO_BREAK = '\u00a0';

/** The text in lines of this width, broken at spaces; a word that is longer has a line of its own. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && stringWidth(last) + 1 + stringWidth(word) <= width) lines.push(`${lines.pop()} ${word}`);
    else lines.push(word);
  }
  return lines.map((line) => line.replaceAll(NO_BREAK, ' '));
}

/** The text in lines of this width that stand below each other, behind a lead before the first. */
export function hang(lead: string, text: string, width: number): readonly string[] {
  const indent = widthOf(lead);
  return wrap(text, width - indent).map((line, index) => (index === 0 ? lead : ' '.repeat(indent)) + line);
}

/** A text in lines that fit the terminal; in a pipe it is one line. */
export function paragraph(text: string, terminal: Terminal | undefined): string {
  return terminal === undefined ? visible(text) : wrap(visible(text), terminal.columns).join('\n');
}

/** Behind its lead: in a pipe one line, at a terminal wrapped at words and with the fix on a line of its own. */
export function layOutNotice(lead: string, { message, fix }: Notice, terminal: Terminal | undefined): string {
  if (terminal === undefined) return lead + visible(fix === undefined ? message : formatFault({ message, fix }));
  const found = hang(lead, visible(message), terminal.columns);
  const fixed = fix === undefined ? [] : hang(`${' '.repeat(widthOf(lead))}→ `, visible(fix), terminal.columns);
  return [...found, ...fixed.map((line) => terminal.paint('warning', line))].join('\n');
}

/** All that is wrong with settings, a line each. */
export function layOutSettingsError(
  { faults, warnings, advice }: SettingsError,
  terminal: Terminal | undefined,
): string {
  const lines = [...faults, ...warnings].map((fault) => layOutNotice('  - ', fault, terminal));
  const start = advice === undefined ? [] : [layOutNotice('', { message: `To start: ${advice}.` }, terminal)];
  return ['the settings cannot be used:', ...lines, ...start].join('\n');
}

/** Such as `1 removal` or `3 removals`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

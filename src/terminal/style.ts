import { styleText } from 'node:util';

/** What a colour says. */
export type Tone = 'good' | 'bad' | 'warning' | 'faint' | 'plain';

/** Text in the colour of its tone, or as it is if there are no colours. */
export type Paint = (tone: Tone, text: string) => string;

const FORMATS = { good: 'green', bad: 'red', warning: 'yellow', faint: 'dim' } as const;

export function createPaint(hasColor: boolean): Paint {
  return (tone, text) =>
    hasColor && tone !== 'plain' ? styleText(FORMATS[tone], text, { validateStream: false }) : text;
}

/** A terminal that text is laid out for. */
export type Terminal = { readonly columns: number; readonly paint: Paint };

/** What text for no terminal is laid out by: lines of any length, and no colour. */
export const PLAIN: Terminal = { columns: Number.POSITIVE_INFINITY, paint: createPaint(false) };

/** Control characters, and those that reverse the direction of text: a terminal would obey them. */
const OBEYED = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/** The text with every character escaped that a terminal would obey instead of show. */
export function visible(text: string): string {
  return text.replace(OBEYED, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

import { styleText } from 'node:util';

export type Tone = 'good' | 'bad' | 'warning' | 'faint' | 'plain';

export type Paint = (tone: Tone, text: string) => string;

const FORMATS = { good: 'green', bad: 'red', warning: 'yellow', faint: 'dim' } as const;

export function createPaint(hasColor: boolean): Paint {
  return (tone, text) =>
    hasColor && tone !== 'plain' ? styleText(FORMATS[tone], text, { validateStream: false }) : text;
}

/** At a terminal with fewer columns, output is laid out differently. */
export const NARROW_COLUMNS = 60;

/** Where text is shown: a terminal or, if `columns` is infinite, a pipe. */
export type Terminal = {
  readonly columns: number;
  readonly paint: Paint;
  /** Removes what is not to be left there, before a line is printed. */
  readonly clear?: () => void;
  /** Writes the commands in a text as they must be typed. */
  readonly asTyped: (text: string) => string;
};

/** Of a text that may advise commands. Call it once, before the text is wrapped. */
export function escapeAdvice(text: string, { asTyped }: Terminal): string {
  return asTyped(escapeControls(text));
}

/** A pipe. */
export const PLAIN: Terminal = {
  columns: Number.POSITIVE_INFINITY,
  paint: createPaint(false),
  asTyped: (text) => text,
};

export function isPipe({ columns }: Terminal): boolean {
  return columns === Number.POSITIVE_INFINITY;
}

/** Control characters, line separators, and characters that change the direction of text. */
const CONTROLS = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/** Escapes characters that a terminal would interpret: ESC becomes the text `\u001b`. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** JSON or a value for a program: escaped at a terminal, as it is in a pipe. */
export function escapeAtTerminal(text: string, terminal: Terminal): string {
  return isPipe(terminal) ? text : escapeControls(text);
}

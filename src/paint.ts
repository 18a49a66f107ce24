import { styleText } from 'node:util';

/** What a colour says. */
export type Tone = 'good' | 'bad' | 'warning' | 'faint' | 'plain';

/** Text in the colour of its tone, or as it is where there are no colours. */
export type Paint = (tone: Tone, text: string) => string;

const FORMATS = { good: 'green', bad: 'red', warning: 'yellow', faint: 'dim' } as const;

export function createPaint(hasColor: boolean): Paint {
  return (tone, text) =>
    hasColor && tone !== 'plain' ? styleText(FORMATS[tone], text, { validateStream: false }) : text;
}

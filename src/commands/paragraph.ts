import { visible } from '../terminal/style.ts';
import { wrap } from '../terminal/table.ts';
import type { Terminal } from './host.ts';

/** A text in lines that fit the terminal, broken between words; in a pipe it is one line. */
export function paragraph(text: string, terminal: Terminal | undefined): string {
  return wrap(visible(text), terminal?.columns ?? Number.POSITIVE_INFINITY).join('\n');
}

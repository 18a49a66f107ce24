import { escapeControls, type Terminal } from './style.ts';

/** Wraps a text at a terminal; leaves it on one line if `terminal` is undefined. Escapes control characters. */
export async function paragraph(text: string, terminal: Terminal | undefined): Promise<string> {
  if (terminal === undefined) return escapeControls(text);
  // Imported only if needed: string-width takes 19 ms to load.
  const { wrap } = await import('./text.ts');
  return wrap(escapeControls(text), terminal.columns).join('\n');
}

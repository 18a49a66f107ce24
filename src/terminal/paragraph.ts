import { escapeControls, type Terminal } from './style.ts';

/** Wraps a text to the width of the terminal, if there is one, and escapes its control characters. */
export async function paragraph(text: string, terminal: Terminal | undefined): Promise<string> {
  if (terminal === undefined) return escapeControls(text);
  // Imported only if needed: loading string-width takes tens of milliseconds.
  const { wrap } = await import('./text.ts');
  return wrap(escapeControls(text), terminal.columns).join('\n');
}

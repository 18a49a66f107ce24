import stringWidth from 'string-width';

const GAP = '  ';

/** Lays rows out in columns under their names. Control characters are shown as what they are, not obeyed. */
export function formatTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [columns, ...rows].map((row) => row.map(visible));
  const widths = columns.map(() => 0);
  for (const line of lines) {
    for (const [index, cell] of line.entries()) widths[index] = Math.max(widths[index] ?? 0, stringWidth(cell));
  }
  const layOut = (line: readonly string[]): string =>
    line
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - stringWidth(cell)))
      .join(GAP)
      .trimEnd();
  return lines.map(layOut).join('\n');
}

/** A terminal would obey escape sequences, and turn round what is written after some characters. */
const OBEYED = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/** The text with every character spelt out that a terminal would obey instead of show. */
export function visible(text: string): string {
  return text.replace(OBEYED, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

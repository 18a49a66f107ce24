import Table from 'cli-table3';

/** Lines without frames: what is left copies well and survives a narrow terminal. */
const FRAMELESS = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
  ].map((part) => [part, '']),
);

/** Lays rows out in columns under their names. Control characters are shown as what they are, not obeyed. */
export function formatTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    head: [...columns],
    chars: { ...FRAMELESS, middle: '  ' },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  table.push(...rows.map((row) => row.map(visible)));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** A terminal would obey escape sequences that the service put into a name. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

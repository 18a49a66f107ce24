/** The folder of the project in the documents. */
const SHOWN_FOLDER = '/srv/league-sync';

/** Values that differ between runs. HTTP statuses, ports and numbers in names do not. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  // The demo changes leagues at random.
  [/^\d\d:\d\d:\d\dZ {2}/g, ''],
  [/^(\d+ changed: ).+$/g, '$1<leagues>'],
  [/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ /g, ''],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<instant>'],
  [/(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC/g, '<time>'],
  [/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, '<id>'],
  [/\d+(?:\.\d+)? (?:ms|s|min|h|d)\b/g, '<duration>'],
  [/\d+(?:\.\d+)? (?:B|kB|KB|MB|GB)\b/g, '<size>'],
  [/(?<!status |[\w.:-])\d+(?:\.\d+)?(?![\w-]|\.\d)/g, '<number>'],
  [/\s{2,}/g, '  '],
];

/** A terminal continues a line of the log below its message. */
const CONTINUED = /(?<=^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ .*(?:\n {27}\S.*)*)\n {27}(?=\S)/gm;

/** The lines of an output, without those of npm. */
export function linesOf(printed: string): readonly string[] {
  const lines = printed.replaceAll(CONTINUED, ' ').split('\n');
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('npm warn '));
}

/** Replaces everything in a line that differs between runs. */
export function shapeOf(line: string, folder = SHOWN_FOLDER): string {
  const placed = line.trimEnd().replaceAll(folder, '<folder>');
  return VARIABLE.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), placed);
}

/** Whether a printed line has the shape of a shown one, in which `…` stands for anything. */
export function hasShape(printed: string, shown: string, folder: string): boolean {
  const pattern = shapeOf(shown).split('…').map(quote).join('.*');
  return new RegExp(`^${pattern}$`).test(shapeOf(printed, folder));
}

function quote(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The expected lines that are missing; each is searched for after the one before. */
export function missingFrom(printed: readonly string[], shown: readonly string[], folder: string): readonly string[] {
  let from = 0;
  return shown.filter((line) => {
    if (line.trim() === '') return false;
    const at = printed.findIndex((one, index) => index >= from && hasShape(one, line, folder));
    if (at === -1) return true;
    from = at + 1;
    return false;
  });
}

/** What differs between a whole output and what the document shows. */
export function differences(printed: readonly string[], shown: readonly string[], folder: string): readonly string[] {
  const faults = shown.flatMap((line, index) =>
    hasShape(printed[index] ?? '', line, folder)
      ? []
      : [`shown:   ${line}`, `printed: ${printed[index] ?? '(nothing)'}`],
  );
  return [...faults, ...printed.slice(shown.length).map((line) => `not shown: ${line}`)];
}

/** What differs between tables: the names of the columns count, and how many rows there are. */
export function tableDifferences(printed: readonly string[], shown: readonly string[]): readonly string[] {
  const [shownHead = '', printedHead = ''] = [shown[0], printed[0]];
  const same = columnsOf(shownHead).join() === columnsOf(printedHead).join();
  if (same && shown.length === printed.length) return [];
  // Rows that are too wide for the terminal stand below each other, one column in a line.
  const linesOfColumn = (name: string) => printed.filter((line) => columnsOf(line)[0] === name);
  if (columnsOf(shownHead).every((name) => linesOfColumn(name).length === shown.length - 1)) return [];
  return [`shown:   ${shownHead} (${shown.length - 1} rows)`, `printed: ${printedHead} (${printed.length - 1} rows)`];
}

function columnsOf(head: string): readonly string[] {
  return head.trim().split(/\s{2,}/);
}

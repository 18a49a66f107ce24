const SNAKE_CASE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;

/** The names of fields, also of nested ones, that are not snake_case; only of log lines, and not of other JSON. */
function oddNamesOf(line: Readonly<Record<string, unknown>>): readonly string[] {
  return 'level' in line && 'time' in line ? oddNamesIn(line) : [];
}

function oddNamesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(oddNamesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(SNAKE_CASE.test(name) ? [] : [name]),
    ...oddNamesIn(inner),
  ]);
}

/** Throws if a log line has a field whose name is not snake_case. */
export function requireLogNames(lines: readonly Readonly<Record<string, unknown>>[]): void {
  for (const line of lines) {
    const odd = oddNamesOf(line);
    if (odd.length > 0) throw new Error(`not snake_case in the log: ${odd.join(', ')}\n${JSON.stringify(line)}`);
  }
}

/** The results of the commands of one document. */
export type Report = ReturnType<typeof createReport>;

const LONGEST_SHOWN = 100;
const MOST_LINES = 30;

/** Collects the lines about one document, so that documents can run in parallel. */
export function createReport(file: string) {
  const lines: string[] = [];
  let [passed, failed] = [0, 0];
  return {
    pass: (line: number, what: string): void => {
      lines.push(`ok - ${file}:${line} ${shorten(what)}`);
      passed += 1;
    },
    fail: (line: number, what: string, why: readonly string[]): void => {
      lines.push(`not ok - ${file}:${line} ${shorten(what)}`, ...why.slice(-MOST_LINES).map((one) => `  ${one}`));
      failed += 1;
    },
    leave: (line: number, reason: string): void => {
      lines.push(`not run - ${file}:${line} ${shorten(reason)}`);
    },
    lines: (): readonly string[] => lines,
    passed: () => passed,
    failed: () => failed,
  };
}

function shorten(text: string): string {
  const line = text.replaceAll('\n', ' ');
  return line.length <= LONGEST_SHOWN ? line : `${line.slice(0, LONGEST_SHOWN - 1)}…`;
}

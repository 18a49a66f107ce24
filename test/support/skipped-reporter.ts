import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Lists the skipped tests at the end, with reasons. With TEST_NONE_LEFT_OUT a skipped test fails the run, as in CI. */
export default class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap(({ children }) => [...children.allTests('skipped')]);
    const byReason = Map.groupBy(tests, reasonOf);
    // Tests that the command line excludes have no reason.
    byReason.delete(undefined);
    for (const [reason, left] of byReason) console.log(`\nLeft out, since ${reason}:\n${left.map(nameOf).join('\n')}`);
    if (byReason.size > 0 && process.env.TEST_NONE_LEFT_OUT) process.exitCode = 1;
  }
}

function reasonOf(test: TestCase): string | undefined {
  const result = test.result();
  return result.state === 'skipped' ? result.note : undefined;
}

function nameOf({ module, fullName }: TestCase): string {
  return `  ${module.relativeModuleId} > ${fullName}`;
}

import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Says last which tests were left out, and why. With TEST_NONE_LEFT_OUT that fails the whole, as in CI. */
export default class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap(({ children }) => [...children.allTests('skipped')]);
    const byReason = Map.groupBy(tests, reasonOf);
    // Those that the command line did not name have none.
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

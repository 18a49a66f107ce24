import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What lasts longest begins first, or one processor would have nothing to do at the end. */
const LONGEST = ['kills', 'soak', 'syscall', 'other-writer', 'disk', 'summer-time'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.indexOf(basename(moduleId, '.test.ts'));
      return place === -1 ? LONGEST.length : place;
    };
    return files.toSorted((one, other) => rank(one) - rank(other));
  }
}

/** Tests that last too long for every day. They fail, and are not skipped, where a tool that they need is missing. */
export default defineConfig({
  test: {
    include: ['test/endurance/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    reporters: ['default', './test/support/skipped-reporter.ts'],
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // Many wait for clocks; two at once still leave a processor to each.
    maxWorkers: 2,
    testTimeout: 1_800_000,
    hookTimeout: 60_000,
  },
});

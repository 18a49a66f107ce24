import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const SECOND = 1_000;

/** What each script of package.json runs, its longest files first: otherwise one processor idles at the end. */
const SUITES = {
  /** `npm test`: needs nothing but Node. */
  test: {
    include: ['test/{unit,integration,e2e}/**/*.test.ts', 'test/rigs/{model,simulation}/*.test.ts'],
    longest: ['simulation', 'model', 'service', 'changes', 'status', 'query', 'publish', 'cron'],
    maxWorkers: 5,
    testTimeout: 60 * SECOND,
  },
  /** `npm run test:system`: browsers, other tools, root, real clocks, whole processes. */
  system: {
    include: ['test/system/**/*.test.ts', 'test/rigs/**/*.test.ts'],
    exclude: ['test/rigs/{model,simulation}/**'],
    longest: ['page-live', 'page', 'stop', 'proxy', 'changes', 'demo', 'database-fault', 'backup'],
    maxWorkers: 6,
    testTimeout: 120 * SECOND,
  },
  /** `npm run test:endurance`: the same for minutes. */
  endurance: {
    include: ['test/endurance/**/*.test.ts', 'test/{rigs,postgres}/**/*.endurance.ts'],
    longest: ['kills', 'soak', 'syscalls', 'faults', 'start', 'half-open', 'stop'],
    maxWorkers: 4,
    testTimeout: 1_800 * SECOND,
    globalSetup: ['test/postgres/setup.ts'],
  },
  /** `npm run test:postgres`: the mirror, with a PostgreSQL server that the tests start. */
  postgres: {
    include: ['test/postgres/**/*.test.ts'],
    longest: ['model', 'faults'],
    maxWorkers: 2,
    testTimeout: 60 * SECOND,
    globalSetup: ['test/postgres/setup.ts'],
  },
};

const EVERY_SUITE = { globalSetup: [] as readonly string[] };

export default defineConfig(({ mode }) => {
  const { longest, globalSetup, ...suite } = {
    ...EVERY_SUITE,
    ...SUITES[mode in SUITES ? (mode as keyof typeof SUITES) : 'test'],
  };
  class LongestFirst extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const rank = ({ moduleId }: TestSpecification): number => {
        const place = longest.indexOf(basename(moduleId).replace(/\..*/, ''));
        return place === -1 ? longest.length : place;
      };
      return files.toSorted((one, other) => rank(one) - rank(other));
    }
  }
  return {
    test: {
      ...suite,
      globalSetup: ['test/support/build.ts', ...globalSetup],
      reporters: ['default', './test/support/skipped-reporter.ts'],
      sequence: { sequencer: LongestFirst },
      // Processes, since signals, file locks and the addon behave in threads as they do nowhere else.
      pool: 'forks',
      // Loading the modules anew for each file would take a third of the time.
      isolate: false,
      hookTimeout: 60 * SECOND,
    },
  };
});

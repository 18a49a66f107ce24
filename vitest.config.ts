import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,integration,e2e}/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    reporters: ['default', './test/support/skipped-reporter.ts'],
    // Child processes, as the program is run: the addon, signals and file locks behave as they do in earnest.
    pool: 'forks',
    // The end-to-end tests mostly wait for processes, so more of them than processors is faster.
    maxWorkers: 4,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

import { defineConfig } from 'vitest/config';

/** Tests that last too long for every day. They fail, and are not skipped, where a tool that they need is missing. */
export default defineConfig({
  test: {
    include: ['test/endurance/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    reporters: ['default', './test/support/left-out.ts'],
    pool: 'forks',
    // Many wait for clocks; two at once still leave a processor to each.
    maxWorkers: 2,
    testTimeout: 1_800_000,
    hookTimeout: 60_000,
  },
});

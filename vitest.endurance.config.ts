import { defineConfig } from 'vitest/config';

/** Tests that last too long for every day. They fail, and are not skipped, where a tool that they need is missing. */
export default defineConfig({
  test: {
    include: ['test/endurance/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    reporters: ['default', './test/support/left-out.ts'],
    pool: 'forks',
    // Each has the machine to itself: what they look at is what the program does with the disk, the memory and the time.
    maxWorkers: 1,
    testTimeout: 1_800_000,
    hookTimeout: 60_000,
  },
});

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    // Child processes, as the program is run: the addon, signals and file locks behave as they do in earnest.
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests start processes of their own: a worker each for two files at a time is what two cores bear.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    sequence: { hooks: 'stack' },
    restoreMocks: true,
    // A busy machine takes longer than the default second to start a process.
    expect: { poll: { timeout: 15_000, interval: 20 } },
  },
})

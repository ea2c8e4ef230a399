/** One Postgres and one ClickHouse serve a whole run; each test file gets databases of its own. */
export default {
  testEnvironment: '<rootDir>/test/support/shared-environment.js',
  testRunner: '<rootDir>/test/support/shared-runner.js',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'es6' } },
    ],
  },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  reporters: ['default', '<rootDir>/test/support/summary-reporter.js'],
  // For what hangs: nothing here measures time, and a busy machine may be many times slower.
  testTimeout: 900_000,
  // One more than the cores of a small machine, because a third of the time is spent waiting for engines: 269 files
  // take 297 s on two cores, and 458 s with two workers.
  maxWorkers: 3,
  // Modules of files that have ended are not all given back; a machine of 8 GB runs the engines beside them.
  workerIdleMemoryLimit: '1GB',
  // A running product may have its data directory below the checkout: the suite ignores it.
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.data'],
  watchPathIgnorePatterns: ['<rootDir>/.data'],
};

/**
 * Mutation testing of the arithmetic of billing (`npm run mutation`). The pure tests run inside one
 * process, each mutant with the tests that reach it. Properties run with one seed and small counts, so
 * that a mutant's fate does not depend on luck.
 */
export default {
  testRunner: 'jest',
  jest: { configFile: 'jest.mutation.config.js' },
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  coverageAnalysis: 'perTest',
  concurrency: 1,
  incremental: true,
  reporters: ['progress-append-only', 'clear-text', 'json'],
  jsonReporter: { fileName: process.env.MUTATION_REPORT ?? 'reports/mutation/mutation.json' },
  clearTextReporter: { allowColor: false, reportTests: false, reportScoreTable: true },
  timeoutMS: 5_000,
  disableTypeChecks: false,
  ignorePatterns: ['.*', '**/.data*', 'dist', 'web', 'coverage', 'reports', '*.log'],
};

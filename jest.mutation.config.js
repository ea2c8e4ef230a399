import config from './jest.domain.config.js';

/**
 * The pure tests as mutation runs use them: code is judged by the tables of its own folder and by the
 * golden cases. Properties would notice more, at ten times the time for each of a thousand mutants.
 * `scripts/mutation.js` names the folder.
 */
const folder = process.env.MUTATION_FOLDER ?? '**';
const { reporters, testRunner, ...quiet } = config;
export default {
  ...quiet,
  // Mutants are put in where Jest loads a file, so here each file loads its own modules.
  testEnvironment: 'node',
  testMatch: [`<rootDir>/test/${folder}/**/*.test.ts`, '<rootDir>/test/golden/**/*.test.ts'],
  testPathIgnorePatterns: ['\\.properties\\.test\\.ts$', 'hostile-expressions'],
  testTimeout: 20_000,
};

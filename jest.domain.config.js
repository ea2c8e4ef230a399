import config from './jest.config.js';

/** The pure tests alone: no database server is started. Deep properties and mutation runs use it. */
const { globalSetup, globalTeardown, ...pure } = config;
export default { ...pure, testMatch: ['<rootDir>/test/{domain,golden}/**/*.test.ts'] };

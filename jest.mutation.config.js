import config from './jest.domain.config.js';

/** The pure tests as mutation runs use them: no reporters of ours, nothing slow. */
const { reporters, ...quiet } = config;
export default { ...quiet, testTimeout: 20_000 };

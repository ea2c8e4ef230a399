import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';

/**
 * Jest's runner with Node's module loader in place of Jest's own. A worker then compiles each module once,
 * not once per test file, which was half of the CPU time of a run. The price: test files of one worker share
 * modules, so a test must not depend on module state.
 */
const require = createRequire(import.meta.url);
register('../../scripts/typescript-loader.js', import.meta.url);

export default async function run(globalConfig, config, environment, runtime, path, send) {
  // Jest keeps the tests of a file in module state of its framework, the one module to load for each file.
  runtime.requireInternalModule = (file) => {
    delete require.cache[file];
    return require(file);
  };
  runtime.unstable_importModule = (file) => import(pathToFileURL(file).href);
  return await circus.default(globalConfig, config, environment, runtime, path, send);
}

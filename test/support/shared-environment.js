import vm from 'node:vm';
import { ModuleMocker } from 'jest-mock';

/**
 * Runs every test file of a worker in the worker's own global scope, so that modules are loaded once per
 * worker (`shared-runner.js`). Restores what Jest replaces in that scope for one file.
 */
export default class SharedEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  fakeTimersModern = null;
  #original = { console: globalThis.console, exit: process.exit };

  async setup() {
    // Jest's formatter of stacks knows only modules that Jest itself has loaded; Node's knows all.
    process.setSourceMapsEnabled(true);
    Error.prepareStackTrace = undefined;
  }

  async teardown() {
    globalThis.console = this.#original.console;
    process.exit = this.#original.exit;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return vm.createContext();
  }
}

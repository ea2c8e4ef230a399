import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import vm from 'node:vm';
import { ModuleMocker } from 'jest-mock';

/** The test file that makes the product send each type of notification. */
const { sent_by } = JSON.parse(
  readFileSync(new URL('./notified-by.json', import.meta.url), 'utf8'),
);

/**
 * Runs every test file of a worker in the worker's own global scope, so that modules are loaded once per
 * worker (`shared-runner.js`). Restores what Jest replaces in that scope for one file.
 */
export default class SharedEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  fakeTimersModern = null;
  #file;
  #original = { console: globalThis.console, exit: process.exit };

  constructor({ globalConfig }, { testPath }) {
    this.#file = relative(globalConfig.rootDir, testPath);
  }

  async setup() {
    globalThis.notifiedTypes = new Set();
    globalThis.notifiedBy = this.#file;
    // Jest's formatter of stacks knows only modules that Jest itself has loaded; Node's knows all.
    process.setSourceMapsEnabled(true);
    Error.prepareStackTrace = undefined;
  }

  /**
   * Fails a file that did not make the product send what `notified-by.json` expects of it. Environments of files that
   * have ended hear the events too. `NOTIFIED_TYPES_FILE` gets a line for each type that the file had sent.
   */
  handleTestEvent({ name }, state) {
    if (name !== 'run_finish' || globalThis.notifiedBy !== this.#file) return;
    if (state.testNamePattern != null || state.hasFocusedTests) return;
    const { notifiedTypes } = globalThis;
    if (process.env.NOTIFIED_TYPES_FILE !== undefined)
      for (const type of notifiedTypes)
        appendFileSync(process.env.NOTIFIED_TYPES_FILE, `${type} ${this.#file}\n`);
    const missing = Object.entries(sent_by).flatMap(([type, file]) =>
      file === this.#file && !notifiedTypes.has(type) ? [type] : [],
    );
    if (missing.length > 0)
      state.unhandledErrors.push(new Error(`this file sent no ${missing.join(', ')}`));
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

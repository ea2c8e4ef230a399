/**
 * Closes a run with what ran, what was skipped and why, and one line with the totals. A skipped suite
 * names its reason in its title: `[needs KAFKA_BROKERS]`.
 */
export default class SummaryReporter {
  onRunComplete(_contexts, results) {
    const suites = new Map();
    const skipped = new Map();
    for (const file of results.testResults) {
      const name = file.testFilePath.replace(/^.*\/test\//, '').split('/')[0];
      const suite = suites.get(name) ?? { passed: 0, failed: 0, skipped: 0 };
      for (const test of file.testResults) {
        if (test.status === 'passed') suite.passed += 1;
        else if (test.status === 'failed') suite.failed += 1;
        else {
          suite.skipped += 1;
          const reason = /\[(needs [^\]]+)\]/.exec(test.fullName)?.[1] ?? 'no reason given';
          skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
        }
      }
      if (file.testExecError) suite.failed += 1;
      suites.set(name, suite);
    }
    const lines = ['', 'suite              passed   failed  skipped'];
    for (const [name, suite] of [...suites].sort()) {
      const cells = [suite.passed, suite.failed, suite.skipped].map((n) => String(n).padStart(9));
      lines.push(name.padEnd(16) + cells.join(''));
    }
    for (const [reason, count] of skipped) lines.push(`skipped: ${count} tests, ${reason}`);
    const passed = results.numPassedTests;
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    lines.push('', `tests: ${passed} passed, ${failed} failed, ${results.numPendingTests} skipped`);
    process.stdout.write(`${lines.join('\n')}\n`);
  }
}

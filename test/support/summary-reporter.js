/** How many of the slowest files are listed, when a run has more. */
const SLOWEST = 10;

/**
 * Closes a run with what ran, the slowest files, what was skipped and why, and one line with the totals.
 * A skipped suite names its reason in its title: `[needs KAFKA_BROKERS]`.
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
    if (results.testResults.length > SLOWEST) lines.push('', ...slowest(results.testResults));
    for (const [reason, count] of skipped) lines.push(`skipped: ${count} tests, ${reason}`);
    const passed = results.numPassedTests;
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    lines.push('', `tests: ${passed} passed, ${failed} failed, ${results.numPendingTests} skipped`);
    process.stdout.write(`${lines.join('\n')}\n`);
  }
}

/** A table of the files that took longest, with their share of the time of all files. */
function slowest(files) {
  const timed = files
    .map(({ testFilePath, perfStats, testResults }) => ({
      name: testFilePath.replace(/^.*\/test\//, ''),
      seconds: perfStats.runtime / 1000,
      tests: testResults.length,
    }))
    .sort((a, b) => b.seconds - a.seconds);
  const total = timed.reduce((sum, { seconds }) => sum + seconds, 0);
  const listed = timed.slice(0, SLOWEST);
  const width = Math.max(...listed.map(({ name }) => name.length), 'slowest files'.length);
  const row = (name, ...cells) =>
    name.padEnd(width) + cells.map((cell) => cell.padStart(9)).join('');
  return [
    row('slowest files', 'seconds', 'share', 'tests'),
    ...listed.map(({ name, seconds, tests }) =>
      row(name, seconds.toFixed(1), `${((100 * seconds) / total).toFixed(1)} %`, String(tests)),
    ),
    row(
      `all ${timed.length} files`,
      total.toFixed(1),
      '',
      String(files.reduce((sum, { testResults }) => sum + testResults.length, 0)),
    ),
  ];
}

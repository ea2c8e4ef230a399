import { runDrift } from './run-drift.ts';

/**
 * `npm run contract`: exit code 1 when a difference is not listed in docs/contract-differences.json, or when
 * one that is listed there is none.
 */
const found = runDrift();
process.stdout.write(
  `${found?.text ?? 'contract: skipped, no contract/shapes.json (set SHARED_DIRECTORY)'}\n`,
);
process.exitCode = found !== null && found.unlisted.length + found.stale.length > 0 ? 1 : 0;

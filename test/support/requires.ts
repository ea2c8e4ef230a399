import { existsSync } from 'node:fs';

/**
 * A suite that needs a server this machine may not have. Without the variable its tests are reported
 * as skipped with the reason, and the summary at the end of the run names them; `.ci/run` sets all of
 * the variables and fails when such a suite was skipped.
 */
export function describeWith(
  variable:
    | 'KAFKA_BROKERS'
    | 'REDIS_URL'
    | 'CLICKHOUSE_URL'
    | 'DEEP'
    | 'PYTHON_CLIENT'
    | 'SHARED_DIRECTORY',
  title: string,
  body: (value: string) => void,
): void {
  const value = process.env[variable];
  if (value !== undefined && value !== '') describe(title, () => body(value));
  else describe.skip(`${title} [needs ${variable}]`, () => body(''));
}

/** A suite about what root meets. As another user its tests are reported as skipped with the reason. */
export function describeAsRoot(title: string, body: () => void): void {
  if (process.getuid?.() === 0) describe(title, body);
  else describe.skip(`${title} [needs root]`, body);
}

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** A suite in a real browser: Chromium of the system's packages, or the one at `CHROMIUM_PATH`. */
export function describeInBrowser(title: string, body: (executable: string) => void): void {
  const named = process.env['CHROMIUM_PATH'];
  const found = named ?? CHROMIUM.find((path) => existsSync(path));
  if (found !== undefined) describe(title, () => body(found));
  else describe.skip(`${title} [needs Chromium]`, () => body(''));
}

/** A suite that limits the files of a running process, which only Linux can do. */
export function describeWithPrlimit(title: string, body: () => void): void {
  if (existsSync('/usr/bin/prlimit')) describe(title, body);
  else describe.skip(`${title} [needs prlimit]`, body);
}

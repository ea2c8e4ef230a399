import { spawn } from 'node:child_process';

/** Runs a test file with these settings; its output goes to this process. Throws if a test fails. */
export async function runTests(
  path: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const child = spawn('npm', ['test', '--silent', '--', path], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0)
    throw new Error(`${path}: the accounts differ, or the run failed: exit code ${code}`);
}

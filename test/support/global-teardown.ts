import { rmSync } from 'node:fs';

export default async function globalTeardown(): Promise<void> {
  await (globalThis as { stopTestServers?: () => Promise<void> }).stopTestServers?.();
  const directory = process.env['TEST_DIRECTORY'];
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('../support/orphaned-role.ts', import.meta.url));
const LOADER = new URL('../../scripts/typescript.js', import.meta.url).href;

test('a role whose supervisor died while the role was loading drains too, and leaves its ports', async () => {
  const child = fork(CHILD, {
    execArgv: ['--import', LOADER],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  child.disconnect();
  expect((await exited)[0]).toBe(0);
});

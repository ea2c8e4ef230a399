import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createTestDatabase } from '../support/database.ts';

const CHILD = fileURLToPath(new URL('../support/type-lookup-role.ts', import.meta.url));
const LOADER = new URL('../../scripts/typescript.js', import.meta.url).href;
const LOSSES = 3;

test('a role survives connections that end while the driver reads the types of arrays', async () => {
  const database = await createTestDatabase();
  const target = new URL(database.url);
  const server = { host: target.hostname, port: Number(target.port) };
  let losses = 0;
  const relay = createServer((client) => {
    const upstream = connect(server);
    client.on('data', (bytes) => {
      if (!bytes.includes('typcategory') || losses === LOSSES) return void upstream.write(bytes);
      losses += 1;
      client.resetAndDestroy();
    });
    upstream.on('data', (bytes) => client.write(bytes));
    client.on('error', () => {}).on('close', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  target.hostname = '127.0.0.1';
  target.port = String((relay.address() as AddressInfo).port);
  const child = fork(CHILD, [target.toString()], {
    execArgv: ['--import', LOADER],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit').then(([code]) => ({ code: code as number }));
  const answered = once(child, 'message').then(([message]) => message as unknown);
  expect(await Promise.race([answered, exited])).toEqual({ answer: ['a', 'b'] });
  expect(losses).toBe(LOSSES);
  child.kill('SIGTERM');
  expect(await exited).toEqual({ code: 0 });
  relay.close();
  await database.drop();
});

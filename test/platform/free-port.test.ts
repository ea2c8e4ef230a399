import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { freePort } from '../../platform/free-port.ts';

test('a port is not one that the system can give to an outgoing connection', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()));
  expect(new Set(ports).size).toBe(50);
  for (const port of ports) {
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThan(32_768);
  }
});

test('a port on which a process listens is not chosen, and none is chosen twice', async () => {
  const server = createServer().listen(await freePort(), '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const range = { first: port, end: port + 20 };
  const ports: number[] = [];
  const chooseAll = async (): Promise<never> => {
    for (;;) ports.push(await freePort(range));
  };
  await expect(chooseAll()).rejects.toThrow(
    `no free port was found between ${port} and ${port + 19} of 127.0.0.1; end processes that listen there.`,
  );
  // Other processes may listen on some of them.
  expect(ports.length).toBeGreaterThan(0);
  expect(ports).not.toContain(port);
  expect(new Set(ports).size).toBe(ports.length);
  server.close();
  await once(server, 'close');
});

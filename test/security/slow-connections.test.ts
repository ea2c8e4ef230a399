import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { createServer, type ServerOptions } from '../../platform/http/server.ts';

/** Who sends slowly, or opens more than is served (reliability, row 25 and S18). On real sockets. */
describe('slow and many connections', () => {
  const servers: FastifyInstance[] = [];
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  async function listen(options: Partial<ServerOptions>): Promise<FastifyInstance> {
    const app = createServer({ log: pino({ level: 'silent' }) as never, ...options });
    app.post('/echo', async (request) => request.body ?? {});
    await app.listen({ port: 0, host: '127.0.0.1' });
    servers.push(app);
    return app;
  }

  async function open(app: FastifyInstance) {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    let text = '';
    socket.setEncoding('latin1').on('data', (data: string) => (text += data));
    socket.on('error', () => {});
    // A byte that meets a closed connection resets it; what was answered has been read by then.
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    await once(socket, 'connect');
    return { socket, closed, answer: () => text };
  }

  /** A byte now and then until the server answers. */
  function drip(socket: Socket, byte: string): void {
    const timer = setInterval(() => socket.write(byte), 20);
    for (const end of ['data', 'close']) socket.once(end, () => clearInterval(timer));
  }

  const HEAD = 'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';

  test.each([
    ['headers that never end', HEAD, 'x'],
    ['a body that never ends', `${HEAD}content-length: 1000000\r\n\r\n`, ' '],
  ])('408: %s', async (_what, head, byte) => {
    const app = await listen({ requestTimeoutMs: 200 });
    const { socket, closed, answer } = await open(app);
    socket.write(head);
    drip(socket, byte);
    await closed;
    expect(answer()).toMatch(/^HTTP\/1\.1 408 [^]*"success":false[^]*"error_count":0/);
  });

  test('the limit is looked after every second, so that 30 seconds are not 60', async () => {
    const app = await listen({});
    const { server } = app;
    expect([server.requestTimeout, server.headersTimeout]).toEqual([30_000, 30_000]);
    const symbols = Object.getOwnPropertySymbols(server) as (keyof typeof server)[];
    const interval = symbols.find((symbol) => /connectionsCheckingInterval/i.test(String(symbol)));
    expect((server[interval!] as unknown as { _repeat: number })._repeat).toBeLessThanOrEqual(
      1_000,
    );
  });

  test('503 with Retry-After beyond the limit of connections; open ones are served, and a closed one makes room', async () => {
    const app = await listen({ maxConnections: 10 });
    const request = `${HEAD}content-length: 2\r\n\r\n{}`;
    const served = [];
    for (let count = 0; count < 10; count += 1) {
      const connection = await open(app);
      connection.socket.write(request);
      await once(connection.socket, 'data');
      served.push(connection);
    }
    const further = await open(app);
    further.socket.write(request);
    await further.closed;
    expect(further.answer()).toMatch(/^HTTP\/1\.1 503 /);
    expect(further.answer()).toMatch(/retry-after: \d/i);
    expect(further.answer()).toContain('"code":"too_many_connections"');

    const [first] = served;
    first!.socket.write(request);
    await once(first!.socket, 'data');
    expect(first!.answer().match(/HTTP\/1\.1 200 /g)).toHaveLength(2);

    first!.socket.destroy();
    await first!.closed;
    for (let status = '503'; status !== '200';) {
      const next = await open(app);
      next.socket.write(request);
      await Promise.race([once(next.socket, 'data'), next.closed]);
      status = /^HTTP\/1\.1 (\d+)/.exec(next.answer())?.[1] ?? '503';
    }
  });
});

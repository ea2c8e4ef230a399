import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { poll } from '../../contract/event-log/contract.ts';
import { startIngest, type TestIngest } from './start-ingest.ts';

const EVENT = { event_name: 'api.call', external_customer_id: 'acme' };

/** What happens on real connections: `inject` has none that can be cut. */
describe('connections', () => {
  let ingest: TestIngest;
  let port: number;
  beforeAll(async () => {
    ingest = await startIngest({ maxHeldBytes: 40 * 1024 * 1024 });
    await ingest.app.listen({ port: 0, host: '127.0.0.1' });
    const address = ingest.app.server.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  afterAll(() => ingest.close());

  async function open(contentLength: number): Promise<{ socket: Socket; answer(): string }> {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(
      'POST /v1/events/bulk HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n' +
        `x-api-key: ${ingest.key}\r\ncontent-length: ${contentLength}\r\n\r\n`,
    );
    return { socket, answer: () => text };
  }
  const stillServes = async () => expect((await ingest.post('/v1/events', EVENT)).status).toBe(202);

  test('a client that disconnects within its body does not affect others', async () => {
    for (let n = 0; n < 20; n++) {
      const { socket } = await open(1_000_000);
      socket.write(Buffer.alloc(200_000, 0x20));
      if (n % 2 === 0) socket.resetAndDestroy();
      else socket.end();
    }
    await stillServes();
  });

  test('a body beyond the cap is answered 413 before it has ended, and the connection is closed', async () => {
    const { socket, answer } = await open(100 * 1024 * 1024);
    let closed = false;
    socket.on('close', () => (closed = true));
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    for (let sent = 0; sent < 34 && !closed; sent++)
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
    await poll(() => closed || answer() !== '');
    if (answer() !== '') {
      expect(answer()).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer()).toMatch(/connection: close/i);
    }
    await poll(() => closed);
    await stillServes();
  });

  test('bodies that together are more than the process may hold: 503, and the bytes are given back', async () => {
    const body = Buffer.alloc(30 * 1024 * 1024, 0x20);
    const waiting = await open(body.length);
    waiting.socket.write(body.subarray(1));
    // While the first is held but for its last byte, there is no room for a second one of this size.
    await poll(async () => {
      const second = await ingest.post('/v1/events/bulk', body.subarray(0, 20 * 1024 * 1024));
      return second.status === 503 && second.body.code === 'ingest_busy';
    });
    waiting.socket.write(' ');
    await poll(() => waiting.answer().startsWith('HTTP/1.1 400 '));
    waiting.socket.destroy();
    expect((await ingest.post('/v1/events/bulk', body)).status).toBe(400);
    await stillServes();
  });

  test('requests one after the other on one connection', async () => {
    const body = JSON.stringify({ events: [EVENT] });
    const { socket, answer } = await open(Buffer.byteLength(body));
    socket.write(body);
    await poll(() => /202/.test(answer()));
    socket.write(
      'POST /v1/events HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n' +
        `x-api-key: ${ingest.key}\r\ncontent-length: 2\r\n\r\n{}`,
    );
    await poll(() => /HTTP\/1\.1 400/.test(answer()));
    socket.destroy();
  });
});

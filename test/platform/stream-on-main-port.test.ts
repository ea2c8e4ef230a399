import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { streamOnMainPort } from '../../main/stream-on-main-port.ts';
import { isReady } from '../../main/role.ts';
import { noteStop } from '../../postgres/tables/stream-stops.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('the stream in the answers of the main port', () => {
  let database: TestDatabase;
  let stream: Server;
  let port: number;
  let answer = 'up';
  beforeAll(async () => {
    database = await createTestDatabase();
    stream = createServer((_request, response) => {
      response.writeHead(answer === 'down' ? 503 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ components: { stream: answer } }));
    }).listen(0, '127.0.0.1');
    await once(stream, 'listening');
    port = (stream.address() as AddressInfo).port;
  });
  afterAll(async () => {
    stream.close();
    await database.drop();
  });

  test.each([
    ['up', 'up'],
    ['degraded', 'degraded'],
    ['down', 'degraded'],
  ])('its own port says %s: %s, and the port stays ready', async (own, expected) => {
    answer = own;
    const health = await streamOnMainPort(database.pool, [port]);
    expect(health).toEqual({ stream: expected });
    expect(isReady({ postgres: 'up', ...health })).toBe(true);
  });

  test('without the stream on this machine nothing is reported', async () => {
    expect(await streamOnMainPort(database.pool, [])).toEqual({});
  });

  test('a stopped partition: degraded, wherever the stream runs', async () => {
    await noteStop(database.pool, { epoch: 0, partition: 1 }, 'log_too_short');
    expect(await streamOnMainPort(database.pool, [])).toEqual({ stream: 'degraded' });
  });
});

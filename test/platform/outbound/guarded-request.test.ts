import { createOutbound, type Outbound } from '../../../platform/outbound/guarded-request.ts';
import { startReceiver, type TestReceiver } from '../../support/receiver.ts';

let receiver: TestReceiver;
let outbound: Outbound;
beforeEach(async () => {
  receiver = await startReceiver();
  outbound = createOutbound();
});
afterEach(async () => {
  outbound.close();
  await receiver.close();
});

const post = (timeoutMs?: number) =>
  outbound.post({
    url: receiver.url,
    headers: {},
    body: '{}',
    rules: { isProduction: false, allowedHosts: ['127.0.0.1'] },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });

describe('an answer', () => {
  test('has its status, its headers and the first 4 KB of its body; character 0 is replaced', async () => {
    receiver.answer = (_received, response) =>
      void response.writeHead(201, { 'x-any': 'thing' }).end(`\u0000${'a'.repeat(5_000)}`);
    const { status, headers, body } = await post();
    expect([status, headers['x-any']]).toEqual([201, 'thing']);
    expect(body).toBe(`\uFFFD${'a'.repeat(4_095)}`);
  });

  test('whose head does not come in time is none', async () => {
    receiver.answer = () => {};
    await expect(post(100)).rejects.toThrow('no answer within 0.1 s');
  });

  test('whose body does not end in time is none', async () => {
    receiver.answer = (_received, response) => void response.writeHead(200).write('begun');
    await expect(post(100)).rejects.toThrow('no answer within 0.1 s');
  });

  test('that ends in the middle is none', async () => {
    receiver.answer = (_received, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('begun', () => response.destroy());
    };
    await expect(post()).rejects.toThrow(/aborted|hang up|ECONNRESET/);
  });

  test('lets the next request use its connection', async () => {
    const ports = new Set<number>();
    receiver.answer = (_received, response) => {
      ports.add(response.socket!.remotePort!);
      response.writeHead(204).end();
    };
    for (let times = 0; times < 3; times += 1) {
      await post();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(ports.size).toBe(1);
  });
});

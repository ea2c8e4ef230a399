import { connect, type Socket } from 'node:net';
import autocannon from 'autocannon';
import { BENCH_KEY, sentEvent } from './payload.ts';

/** The instructions for one load process, and its answer. */
export interface LoadSettings {
  readonly kind: 'bulk' | 'single';
  readonly ports: readonly number[];
  readonly connections: number;
  readonly eventsPerCall: number;
}
export interface LoadResult {
  readonly events: number;
  readonly refused: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuSeconds: number;
}

const settings = JSON.parse(process.argv[2]!) as LoadSettings;
const DISTINCT_CALLS = settings.kind === 'bulk' ? 64 : 2_000;
const calls = Array.from({ length: DISTINCT_CALLS }, (_, call) => bodyOf(call));
const requests = calls.map((body) => httpRequest(body));
let next = 0;
process.send!('ready');

process.on('message', (message: { seconds: number }) => {
  const before = process.cpuUsage();
  const load = settings.kind === 'bulk' ? bulkLoad(message.seconds) : singleLoad(message.seconds);
  void load.then((result) => {
    const cpu = process.cpuUsage(before);
    process.send!({ ...result, cpuSeconds: (cpu.user + cpu.system) / 1e6 });
  });
});
process.on('SIGTERM', () => process.exit(0));

function bodyOf(call: number): string {
  const { eventsPerCall } = settings;
  const now = Date.now();
  if (settings.kind === 'single') return JSON.stringify(sentEvent(call, now));
  const events = Array.from({ length: eventsPerCall }, (_, n) =>
    sentEvent(call * eventsPerCall + n, now),
  );
  return JSON.stringify({ events });
}

function httpRequest(body: string): Buffer {
  return Buffer.from(
    'POST /v1/events/bulk HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n' +
      `x-api-key: ${BENCH_KEY}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** Calls are built in advance and written unchanged: autocannon first copies each call of 260 kB. */
async function bulkLoad(seconds: number): Promise<Omit<LoadResult, 'cpuSeconds'>> {
  const latencies: number[] = [];
  let refused = 0;
  const began = performance.now();
  const until = began + seconds * 1000;
  const run = async (socket: Socket): Promise<void> => {
    while (performance.now() < until) {
      const sentAt = performance.now();
      const status = await call(socket, requests[next++ % requests.length]!);
      if (status === 202) latencies.push(performance.now() - sentAt);
      else refused++;
    }
    socket.destroy();
  };
  await Promise.all(
    Array.from({ length: settings.connections }, async (_, n) => {
      const socket = connect(settings.ports[n % settings.ports.length]!, '127.0.0.1');
      socket.setNoDelay(true);
      await run(socket);
    }),
  );
  latencies.sort((a, b) => a - b);
  return {
    events: latencies.length * settings.eventsPerCall,
    refused,
    seconds: (performance.now() - began) / 1000,
    p50Ms: latencies[Math.floor(latencies.length * 0.5)] ?? NaN,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? NaN,
  };
}

/** Answers are small and have one chunk; only the status is read. */
function call(socket: Socket, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(text);
      if (end < 0 || length === null || text.length < end + 4 + Number(length[1])) return;
      socket.off('data', onData).off('error', reject);
      resolve(Number(text.slice(9, 12)));
    };
    socket.on('data', onData).once('error', reject);
    socket.write(request);
  });
}

async function singleLoad(seconds: number): Promise<Omit<LoadResult, 'cpuSeconds'>> {
  const results = await Promise.all(
    settings.ports.map((port) =>
      autocannon({
        url: `http://127.0.0.1:${port}`,
        connections: Math.round(settings.connections / settings.ports.length),
        duration: seconds,
        requests: calls.map((body) => ({
          method: 'POST',
          path: '/v1/events',
          headers: { 'content-type': 'application/json', 'x-api-key': BENCH_KEY },
          body,
        })),
      }),
    ),
  );
  const sum = (of: (result: autocannon.Result) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  return {
    events: sum((result) => result['2xx']),
    refused: sum((result) => result.non2xx + result.errors),
    seconds: Math.max(...results.map((result) => result.duration)),
    p50Ms: Math.max(...results.map((result) => result.latency.p50)),
    p99Ms: Math.max(...results.map((result) => result.latency.p99)),
  };
}

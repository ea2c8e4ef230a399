import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Notifications received since the last question. */
export interface ReceiverReport {
  readonly url: string;
  readonly received: number;
  /** Notifications that came after a later one of the same object. */
  readonly outOfOrder: number;
  /** From the time of the event to its arrival, ascending. */
  readonly delaysMs: readonly number[];
  readonly cpuSeconds: number;
}

/** Answers 200 at once, or, at `/dead`, never. Reports at each message and begins to count again. */
const server = createServer((request, response) => {
  if (request.url !== '/dead') void receive(request, response);
});
let bodies: string[] = [];
let delaysMs: number[] = [];
let cpu = process.cpuUsage();
server.listen(0, '127.0.0.1', () => process.send!('ready'));
process.on('message', () => process.send!(report()));
process.on('SIGTERM', () => process.exit(0));

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const at = Date.now();
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  response.writeHead(200, { 'content-length': 2 }).end('ok');
  const body = Buffer.concat(chunks).toString();
  bodies.push(body);
  delaysMs.push(at - Date.parse(/"created_at":"([^"]+)","environment_id"/.exec(body)![1]!));
}

/** The order is looked at here, so that receiving costs little while it is measured. */
function report(): ReceiverReport {
  const used = process.cpuUsage(cpu);
  const made = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: bodies.length,
    outOfOrder: outOfOrder(),
    delaysMs: delaysMs.toSorted((a, b) => a - b),
    cpuSeconds: (used.user + used.system) / 1e6,
  };
  bodies = [];
  delaysMs = [];
  cpu = process.cpuUsage();
  return made;
}

function outOfOrder(): number {
  const last = new Map<string, number>();
  let count = 0;
  for (const body of bodies) {
    const { customer, sequence } = JSON.parse(body) as Sent;
    if (sequence < (last.get(customer.id) ?? 0)) count += 1;
    last.set(customer.id, sequence);
  }
  return count;
}

interface Sent {
  readonly customer: { readonly id: string };
  readonly sequence: number;
}

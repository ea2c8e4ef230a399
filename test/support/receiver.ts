import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver of notifications on loopback. `answer` decides what it answers; by default 204. */
export interface TestReceiver {
  readonly url: string;
  readonly received: Received[];
  answer: (received: Received, response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<TestReceiver> {
  const receiver = {
    url: '',
    received: [] as Received[],
    answer: (_received: Received, response: ServerResponse) => void response.writeHead(204).end(),
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = {
        path: request.url!,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      receiver.received.push(received);
      receiver.answer(received, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}

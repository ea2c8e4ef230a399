import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type PostgresRelay = Awaited<ReturnType<typeof startPostgresRelay>>;

/**
 * A relay whose connections can be reset, as by a server or a firewall that forgets them. `onSent` is called with
 * what clients send.
 */
export async function startPostgresRelay(target: URL, onSent: (bytes: Buffer) => void = () => {}) {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    clients.add(client);
    client.on('data', onSent).pipe(upstream).pipe(client);
    client.on('error', () => upstream.destroy()).on('close', () => clients.delete(client));
    upstream.on('error', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.toString(),
    reset(): void {
      for (const client of clients) client.resetAndDestroy();
    },
    async refuse(): Promise<void> {
      for (const client of clients) client.resetAndDestroy();
      server.close();
      await once(server, 'close');
    },
    async accept(): Promise<void> {
      server.listen(Number(url.port), '127.0.0.1');
      await once(server, 'listening');
    },
    close(): void {
      for (const client of clients) client.destroy();
      server.close();
    },
  };
}

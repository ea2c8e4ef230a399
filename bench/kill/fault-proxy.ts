import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';

/** A TCP relay whose connections can be cut, refused or left hanging: the network between us and a server. */
export interface FaultProxy {
  readonly port: number;
  /** Relays again; connections that hung go on where they stood. */
  pass(): void;
  /** Cuts all connections and every new one. */
  refuse(): void;
  /** Accepts and keeps connections, but nothing passes in either direction. */
  hang(): void;
  /** Requests get through; where an answer would begin, the connection is cut. */
  cutAnswers(): void;
  close(): Promise<void>;
}

export interface AimedProxy extends FaultProxy {
  /** New connections go to this port from now on: a server that was started again may have another. */
  aim(port: number): void;
}

export async function startFaultProxy(target: { host: string; port: number }): Promise<AimedProxy> {
  const sockets = new Set<Socket>();
  let targetPort = target.port;
  let mode: 'pass' | 'refuse' | 'hang' | 'cut' = 'pass';

  const relay = (from: Socket, to: Socket, isAnswer: boolean): void => {
    sockets.add(from);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    from.on('data', (chunk) => {
      if (mode === 'cut' && isAnswer) from.destroy();
      else if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => void (mode === 'pass' && from.resume()));
    if (mode === 'hang') from.pause();
  };
  const server = createServer((client) => {
    if (mode === 'refuse') return void client.destroy();
    const upstream = connect({ host: target.host, port: targetPort });
    relay(client, upstream, false);
    relay(upstream, client, true);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  return {
    port: address.port,
    aim(port) {
      targetPort = port;
    },
    pass() {
      mode = 'pass';
      for (const socket of sockets) socket.resume();
    },
    refuse() {
      mode = 'refuse';
      for (const socket of sockets) socket.destroy();
    },
    hang() {
      mode = 'hang';
      for (const socket of sockets) socket.pause();
    },
    cutAnswers() {
      mode = 'cut';
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';

/** A TCP relay whose connections can fail in several ways: the network between us and a server. */
export interface FaultProxy {
  readonly port: number;
  /** Relays again; connections that hung continue. */
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
  /** Each piece of data waits this long, in both directions; the order is kept. */
  delay(ms: number): void;
  /**
   * The server's side of all connections ends without notice to the client's side: what clients send is lost.
   * `pass` ends the clients' sides too.
   */
  halfOpen(): void;
}

/** A port of 0 is chosen by the system. */
export async function startFaultProxy(
  target: { readonly host: string; readonly port: number },
  port = 0,
): Promise<AimedProxy> {
  const sockets = new Set<Socket>();
  /** Clients whose server's side has ended without their knowledge. */
  const halves = new Set<Socket>();
  /** Sockets of which a piece of data is being delayed: what follows it must not be read before. */
  const delayed = new Set<Socket>();
  let targetPort = target.port;
  let mode: 'pass' | 'refuse' | 'hang' | 'cut' | 'delay' | 'half' = 'pass';
  let delayMs = 0;

  const relay = (from: Socket, to: Socket, isAnswer: boolean): void => {
    sockets.add(from);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      if (!halves.has(to)) to.destroy();
    });
    const write = (chunk: Buffer): boolean => to.destroyed || to.write(chunk);
    from.on('data', (chunk) => {
      if (halves.has(from)) return;
      if (mode === 'cut' && isAnswer) return void from.destroy();
      if (mode !== 'delay') return void (write(chunk) || from.pause());
      from.pause();
      delayed.add(from);
      setTimeout(() => {
        delayed.delete(from);
        if (write(chunk) && mode !== 'hang') from.resume();
      }, delayMs).unref();
    });
    to.on('drain', () => void (mode !== 'hang' && !delayed.has(from) && from.resume()));
    if (mode === 'hang') from.pause();
  };
  /** The client's side stays open and reads, so that the client notices nothing. */
  const keepHalf = (client: Socket): void => {
    halves.add(client);
    client.on('error', () => {});
    client.on('close', () => void halves.delete(client));
    client.resume();
  };
  const upstreams = new Map<Socket, Socket>();
  const server = createServer((client) => {
    if (mode === 'refuse') return void client.destroy();
    if (mode === 'half') return keepHalf(client);
    const upstream = connect({ host: target.host, port: targetPort });
    upstreams.set(client, upstream);
    client.on('close', () => upstreams.delete(client));
    relay(client, upstream, false);
    relay(upstream, client, true);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  const begin = (next: typeof mode): void => {
    mode = next;
    for (const client of halves) client.destroy();
  };
  const resumeAll = (): void => {
    for (const socket of sockets) if (!delayed.has(socket)) socket.resume();
  };
  return {
    port: address.port,
    aim(next) {
      targetPort = next;
    },
    pass() {
      begin('pass');
      resumeAll();
    },
    refuse() {
      begin('refuse');
      for (const socket of sockets) socket.destroy();
    },
    hang() {
      begin('hang');
      for (const socket of sockets) socket.pause();
    },
    cutAnswers() {
      begin('cut');
      resumeAll();
    },
    delay(ms) {
      delayMs = ms;
      begin('delay');
      resumeAll();
    },
    halfOpen() {
      begin('half');
      for (const [client, upstream] of upstreams) {
        keepHalf(client);
        upstream.destroy();
      }
    },
    async close() {
      for (const socket of [...sockets, ...halves]) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

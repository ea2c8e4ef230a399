import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { BillingError } from '../../domain/errors.ts';

/** Share of connections beyond the limit that get an answer; further ones are closed without one. */
const TOLD_SHARE = 0.1;

/**
 * Serves at most `max` connections at a time. A request on a further connection gets 503 with `Retry-After`
 * before its credential is checked, and its connection is closed. Existing connections continue.
 */
export function limitConnections(app: FastifyInstance, max: number): void {
  const refused = new WeakSet<Socket>();
  let served = 0;
  app.server.maxConnections = max + Math.ceil(max * TOLD_SHARE);
  app.server.on('connection', (socket: Socket) => {
    if (served >= max) {
      refused.add(socket);
      return;
    }
    served += 1;
    socket.once('close', () => (served -= 1));
  });
  app.addHook('onRequest', async (request, reply) => {
    if (!refused.has(request.raw.socket)) return;
    void reply.header('connection', 'close');
    throw new BillingError(
      'unavailable',
      'too_many_connections',
      'More connections are open than are served at a time. Send again after the time in Retry-After.',
    );
  });
}

import type { FastifyReply } from 'fastify';

const signals = new WeakMap<FastifyReply, AbortSignal>();

/**
 * Aborted when the caller closes the connection before the whole answer is sent. (`request.signal` of Fastify 5 is
 * aborted as soon as a body has been read.)
 */
export function callerGoneSignal(reply: FastifyReply): AbortSignal {
  const known = signals.get(reply);
  if (known !== undefined) return known;
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  if (reply.raw.destroyed) controller.abort();
  signals.set(reply, controller.signal);
  return controller.signal;
}

/** Whether the caller has closed the connection: nobody receives the answer. */
export const isCallerGone = (reply: FastifyReply): boolean =>
  reply.raw.destroyed && !reply.raw.writableFinished;

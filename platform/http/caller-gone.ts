import type { FastifyReply } from 'fastify';

/**
 * Aborted when the caller closes the connection before the whole answer is sent. (`request.signal` of Fastify 5 is
 * aborted as soon as a body has been read.)
 */
export function callerGoneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  if (isCallerGone(reply)) controller.abort();
  return controller.signal;
}

/** Whether the caller has closed the connection: nobody receives the answer. */
export const isCallerGone = (reply: FastifyReply): boolean =>
  reply.raw.destroyed && !reply.raw.writableFinished;

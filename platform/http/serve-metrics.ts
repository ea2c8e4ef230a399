import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { BillingError } from '../../domain/errors.ts';

export interface MetricsOptions {
  /** Token that a scraper sends as `Authorization: Bearer …`. Undefined: the port serves no metrics. */
  readonly token: string | undefined;
  readonly contentType: string;
  read(): Promise<string>;
}

/**
 * `GET /metrics` for callers with the token. The figures would tell a stranger how much is sold, to how many
 * customers and when it fails. The source address proves nothing, because a proxy may run on the same
 * machine.
 */
export function serveMetrics(app: FastifyInstance, options: MetricsOptions): void {
  const { token } = options;
  if (token === undefined) return;
  app.get('/metrics', async (request, reply) => {
    const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!timingSafeEqual(digest(given), digest(token))) throw wrongToken();
    return reply.type(options.contentType).send(await options.read());
  });
}

/** Digests have one length, so that a comparison does not reveal the token's length. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const wrongToken = (): BillingError =>
  new BillingError(
    'unauthenticated',
    'unauthorized',
    'Send Authorization: Bearer with the METRICS_TOKEN of this installation.',
  );

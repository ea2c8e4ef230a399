import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { BillingError } from '../../domain/errors.ts';

export interface MetricsOptions {
  /** What a scraper sends as `Authorization: Bearer …`. Undefined: the port has no metrics. */
  readonly token: string | undefined;
  readonly contentType: string;
  read(): Promise<string>;
}

/**
 * `GET /metrics` for whoever knows the token. Figures tell a stranger how much is sold, to how many and
 * when it fails; where the request comes from proves nothing, because a proxy may stand on the same machine.
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

/** Digests have one length, so that a comparison tells nothing of the token's. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const wrongToken = (): BillingError =>
  new BillingError(
    'unauthenticated',
    'unauthorized',
    'Send Authorization: Bearer with the METRICS_TOKEN of this installation.',
  );

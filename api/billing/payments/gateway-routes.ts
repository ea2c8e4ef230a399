import { z } from 'zod';
import { invalidField, invalidOperation, notFound } from '../../../domain/errors.ts';
import { TEST_OUTCOMES } from '../../../platform/gateways/test-gateway.ts';
import { Payment } from '../../../schemas/payment.ts';
import { id, IdParams, Message } from '../../../schemas/primitives.ts';
import { isAdapted } from '../../tenancy/connections/adapted-providers.ts';
import { openGateway } from '../gateways/open-gateway.ts';
import { connectionsTo } from '../gateways/connection-repository.ts';
import { route } from '../../conventions/route.ts';
import type { ApiDeps } from '../../deps.ts';
import { getPayment } from '../records/payment-repository.ts';
import { paymentAnswer } from './answers.ts';
import { receiveGatewayEvent } from './receive-event.ts';

const EnvironmentParams = z.object({ provider: id, tenant: id, environment: id });
const ConnectionParams = EnvironmentParams.extend({ connection_id: id });

/** Gateways send small events. */
const EVENT_BYTES_MAX = 256 * 1024;

interface Inbound {
  readonly deps: ApiDeps;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Verifies the raw bytes with the secret of the connection in the path, then handles the event. */
async function receive(
  { deps, headers, body }: Inbound,
  params: z.output<typeof ConnectionParams>,
): Promise<{ message: string }> {
  const scope = { tenant_id: params.tenant, environment_id: params.environment };
  const open = await openGateway(deps, scope, params.connection_id);
  if (open.gateway.provider !== params.provider) throw notFound('Gateway', params.connection_id);
  const raw = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const event = open.gateway.readEvent(raw, headers, deps.clock.now());
  if (event !== null) await receiveGatewayEvent(deps, open, event);
  return { message: 'event received' };
}

export const gatewayRoutes = [
  route({
    method: 'POST',
    path: '/webhooks/{provider}/{tenant}/{environment}/{connection_id}',
    summary: 'Receive an event of a payment gateway',
    permission: 'public',
    ownsTransactions: true,
    params: ConnectionParams,
    body: z.instanceof(Buffer),
    bodyType: 'application/json',
    bodyLimitBytes: EVENT_BYTES_MAX,
    status: 200,
    answer: Message,
    handler: (call) => receive(call as Inbound, call.params),
  }),
  route({
    method: 'POST',
    path: '/webhooks/{provider}/{tenant}/{environment}',
    summary: 'Receive an event of the only connection to a payment gateway',
    permission: 'public',
    ownsTransactions: true,
    params: EnvironmentParams,
    body: z.instanceof(Buffer),
    bodyType: 'application/json',
    bodyLimitBytes: EVENT_BYTES_MAX,
    status: 200,
    answer: Message,
    async handler(call) {
      const { provider, tenant, environment } = call.params;
      const scope = { tenant_id: tenant, environment_id: environment };
      const [only, other] = await connectionsTo(call.deps.pool, scope, provider);
      if (only === undefined || !isAdapted(provider)) throw notFound('Gateway', provider);
      if (other !== undefined)
        throw invalidField('connection_id', 'is required: there are several connections');
      return await receive(call as Inbound, { ...call.params, connection_id: only.id });
    },
  }),
  route({
    method: 'POST',
    path: '/test-gateway/payments/{id}/outcome',
    summary: 'Set the outcome of a payment of the test gateway',
    permission: 'payment:write',
    ownsTransactions: true,
    params: IdParams,
    body: z.object({ outcome: z.enum(TEST_OUTCOMES) }),
    status: 200,
    answer: Payment,
    async handler({ deps, scope, params, body }) {
      const payment = await getPayment(deps.pool, scope, params.id);
      if (payment.connection_id === null || payment.gateway_payment_id === null)
        throw invalidOperation('The payment does not use the test gateway.', 'payment_gateway');
      const open = await openGateway(deps, scope, payment.connection_id);
      if (!('setOutcome' in open.gateway))
        throw invalidOperation('The payment does not use the test gateway.', 'payment_gateway');
      const events = await open.gateway.setOutcome(payment.gateway_payment_id, body.outcome);
      for (const event of events) await receiveGatewayEvent(deps, open, event);
      return await paymentAnswer(deps.pool, scope, await getPayment(deps.pool, scope, payment.id));
    },
  }),
];

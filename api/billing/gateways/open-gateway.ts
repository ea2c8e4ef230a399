import { BillingError, invalidOperation, notFound } from '../../../domain/errors.ts';
import {
  GatewayUnavailable,
  type GatewayPayer,
  type PaymentGateway,
} from '../../../platform/gateways/gateway.ts';
import {
  createStripeGateway,
  type StripeConnection,
} from '../../../platform/gateways/stripe-gateway.ts';
import { createTestGateway, type TestGateway } from '../../../platform/gateways/test-gateway.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import { insertMapping, mappingsOf } from '../../tenancy/integrations/repository.ts';
import { isAdapted } from '../../tenancy/connections/adapted-providers.ts';
import { assertTestGateway } from '../../tenancy/connections/test-gateway.ts';
import { SECRET_COLUMN } from '../../tenancy/connections/repository.ts';
import { findSealedConnection, type SealedConnection } from './connection-repository.ts';

/** The gateway of a connection. */
export interface OpenGateway {
  readonly connection_id: string;
  readonly scope: Scope;
  /** The account that payments must be in; null if the connection names none. */
  readonly account: string | null;
  readonly gateway: PaymentGateway | TestGateway;
}

/**
 * The gateway of a connection with its secrets, for a command that cannot wait. 404 if the connection is gone or has no
 * adapter, 400 if it has no key.
 */
export async function openGateway(
  deps: Pick<BillingDeps, 'pool' | 'ids' | 'secretBox' | 'settings'>,
  scope: Scope,
  connectionId: string,
): Promise<OpenGateway> {
  try {
    const open = await findGateway(deps, scope, connectionId);
    if (open === null) throw notFound('Gateway', connectionId);
    return open;
  } catch (error) {
    if (!(error instanceof GatewayUnavailable)) throw error;
    throw invalidOperation(error.message, 'payment_gateway');
  }
}

/**
 * The same; null if the connection is gone, so that nothing can be asked any more. Without a key it is a gateway that
 * does not answer: what was paid there is known once the key is back.
 */
export async function findGateway(
  deps: Pick<BillingDeps, 'pool' | 'ids' | 'secretBox' | 'settings'>,
  scope: Scope,
  connectionId: string,
): Promise<OpenGateway | null> {
  const row = await findSealedConnection(deps.pool, scope, connectionId);
  if (row === null || !isAdapted(row.provider_type)) return null;
  if (row.provider_type === 'test') await assertTestGateway(deps.pool, deps, scope);
  const secrets = secretsOf(deps, scope, row);
  const gateway =
    row.provider_type === 'stripe'
      ? createStripeGateway(stripeConnection(deps, row, secrets))
      : createTestGateway(deps, {
          id: row.id,
          scope,
          webhook_secret: textOf(secrets, 'webhook_secret'),
        });
  return { connection_id: row.id, scope, account: row.gateway_account_id, gateway };
}

function stripeConnection(
  { settings }: Pick<BillingDeps, 'settings'>,
  row: SealedConnection,
  secrets: Readonly<Record<string, unknown>>,
): StripeConnection {
  const secret_key = textOf(secrets, 'secret_key');
  if (secret_key === null)
    throw new GatewayUnavailable('The connection to Stripe has no secret_key.');
  return {
    secret_key,
    webhook_secret: textOf(secrets, 'webhook_secret'),
    account: row.gateway_account_id,
    ...(settings.stripe_api_url === undefined ? {} : { api_url: settings.stripe_api_url }),
  };
}

function textOf(secrets: Readonly<Record<string, unknown>>, key: string): string | null {
  const value = secrets[key];
  return typeof value === 'string' && value !== '' ? value : null;
}

/**
 * The customer as the gateway knows them. A gateway that keeps customers is asked to make one the first time; the
 * link is stored like those that the tenant makes itself. Before any transaction.
 */
export async function payerAt(
  deps: BillingDeps,
  caller: Caller,
  gateway: PaymentGateway,
  customerId: string,
): Promise<GatewayPayer> {
  const { scope } = caller;
  const { name, email } = await getCustomer(deps.pool, scope, customerId);
  const payer = { reference: customerId, name: name || null, email: email || null };
  const { provider } = gateway;
  const known = await gatewayCustomerOf(deps, scope, customerId, provider);
  const gateway_customer_id = await gateway.ensureCustomer({
    ...payer,
    gateway_customer_id: known,
  });
  if (known !== null || gateway_customer_id === null) return { ...payer, gateway_customer_id };
  const mapping = {
    ...newRecord(deps, caller, 'eim'),
    entity_type: 'customer' as const,
    entity_id: customerId,
    provider_type: provider as 'stripe',
    provider_entity_id: gateway_customer_id,
    metadata: {},
  };
  try {
    await deps.pool.begin((tx) => insertMapping(tx, mapping));
  } catch (error) {
    // Another request was first: its link counts.
    if (!(error instanceof BillingError)) throw error;
  }
  const stored = await gatewayCustomerOf(deps, scope, customerId, provider);
  return { ...payer, gateway_customer_id: stored ?? gateway_customer_id };
}

async function gatewayCustomerOf(
  { pool }: Pick<BillingDeps, 'pool'>,
  scope: Scope,
  customerId: string,
  provider: string,
): Promise<string | null> {
  const links = await mappingsOf(pool, scope, 'customer', [customerId]);
  return links.find((link) => link.provider_type === provider)?.provider_entity_id ?? null;
}

function secretsOf(
  { secretBox }: Pick<BillingDeps, 'secretBox'>,
  scope: Scope,
  row: SealedConnection,
): Readonly<Record<string, unknown>> {
  if (row.secret_data === null) return {};
  const place = { tenant_id: scope.tenant_id, column: SECRET_COLUMN };
  return JSON.parse(secretBox.open(row.secret_data, place)) as Record<string, unknown>;
}

/** 503: the gateway does not answer; the sender repeats the event. */
export const gatewayUnavailable = (): BillingError =>
  new BillingError(
    'unavailable',
    'gateway_unavailable',
    'The payment gateway does not answer. Repeat the request later.',
  );

/** Whether a gateway did not answer, as its adapter or a command reports it. */
export const isGatewaySilent = (error: unknown): boolean =>
  error instanceof GatewayUnavailable ||
  (error instanceof BillingError && error.code === 'gateway_unavailable');

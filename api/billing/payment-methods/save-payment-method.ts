import { invalidField } from '../../../domain/errors.ts';
import { assertNoCardNumber } from '../../../domain/invoicing/payments.ts';
import { GatewayUnavailable, type GatewayMethod } from '../../../platform/gateways/gateway.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type {
  PaymentMethod,
  SavePaymentMethodBody,
  UpdatePaymentMethodBody,
} from '../../../schemas/payment-method.ts';
import { getCustomer, lockCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, newRecord, sentOr, type Caller } from '../../conventions/record.ts';
import { findGateway, gatewayUnavailable, openGateway, payerAt } from '../gateways/open-gateway.ts';
import { findGatewayConnection } from '../gateways/connection-repository.ts';
import {
  changePaymentMethodRow,
  clearDefault,
  findSavedMethod,
  getPaymentMethod,
  hasPaymentMethod,
  insertPaymentMethod,
  lockPaymentMethod,
} from '../records/payment-method-repository.ts';

/** A method as its gateway describes it. */
export interface DescribedMethod {
  readonly connection_id: string;
  readonly payment_gateway: string;
  readonly method: GatewayMethod;
}

/** Has the gateway keep the method for the customer, and asks what it is. Before any transaction. */
export async function describeMethod(
  deps: BillingDeps,
  caller: Caller,
  customerId: string,
  body: SavePaymentMethodBody,
  /** The name of `payment_gateway` in the request. */
  gatewayField = 'payment_gateway',
): Promise<DescribedMethod> {
  const { scope } = caller;
  await getCustomer(deps.pool, scope, customerId);
  assertNoCardNumber(body.gateway_method_id, 'gateway_method_id');
  const found = await findGatewayConnection(deps.pool, scope, body.payment_gateway ?? null);
  if (found === null)
    throw invalidField(gatewayField, 'is not connected, or several gateways are: name one');
  const { gateway } = await openGateway(deps, scope, found.id);
  try {
    const payer = await payerAt(deps, caller, gateway, customerId);
    const method = await gateway.keepMethod(body.gateway_method_id, payer);
    return { connection_id: found.id, payment_gateway: found.provider_type, method };
  } catch (error) {
    throw error instanceof GatewayUnavailable ? gatewayUnavailable() : error;
  }
}

/**
 * Saves a method of a customer (money 8.5). The first one of a customer is the default. A method that is saved
 * already is returned again.
 */
export async function savePaymentMethod(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  customerId: string,
  { connection_id, payment_gateway, method }: DescribedMethod,
  wanted: {
    readonly is_default?: boolean | null | undefined;
    readonly metadata?: Record<string, string> | null | undefined;
  },
): Promise<PaymentMethod> {
  // The customer's lock: two saves at once do not both become the default.
  await lockCustomer(tx, caller.scope, { id: customerId });
  const { gateway_method_id } = method;
  const of = { customer_id: customerId, connection_id, gateway_method_id };
  const saved = await findSavedMethod(tx, caller.scope, of);
  const isFirst = !(await hasPaymentMethod(tx, caller.scope, customerId));
  const is_default = wanted.is_default ?? (saved?.is_default === true || isFirst);
  if (is_default && saved?.is_default !== true)
    await clearDefault(tx, caller.scope, customerId, changed(deps, caller));
  if (saved !== null)
    return await changePaymentMethodRow(tx, caller.scope, saved.id, {
      is_default,
      ...(wanted.metadata ? { metadata: wanted.metadata } : {}),
      ...changed(deps, caller),
    });
  return await insertPaymentMethod(tx, {
    ...newRecord(deps, caller, 'pm'),
    ...of,
    payment_gateway,
    method_type: method.method_type,
    brand: method.brand,
    last4: method.last4,
    exp_month: method.exp_month,
    exp_year: method.exp_year,
    is_default,
    metadata: wanted.metadata ?? {},
  });
}

export async function updatePaymentMethod(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  customerId: string,
  id: string,
  body: UpdatePaymentMethodBody,
): Promise<PaymentMethod> {
  await lockCustomer(tx, caller.scope, { id: customerId });
  const method = await lockPaymentMethod(tx, caller.scope, customerId, id);
  if (body.is_default === true && !method.is_default)
    await clearDefault(tx, caller.scope, customerId, changed(deps, caller));
  return await changePaymentMethodRow(tx, caller.scope, id, {
    ...sentOr({ is_default: body.is_default }, { is_default: false }),
    ...(body.metadata == null ? {} : { metadata: body.metadata }),
    ...changed(deps, caller),
  });
}

/**
 * Deletes a method: its gateway forgets it first, so that a failure in between leaves a row that can be deleted
 * again. No other method becomes the default.
 */
export async function deletePaymentMethod(
  deps: BillingDeps,
  caller: Caller,
  customerId: string,
  id: string,
): Promise<void> {
  const { scope } = caller;
  const method = await getPaymentMethod(deps.pool, scope, customerId, id);
  await forget(deps, scope, method);
  await deps.pool.begin(async (tx) => {
    await lockPaymentMethod(tx, scope, customerId, id);
    const gone = { status: 'archived', is_default: false, ...changed(deps, caller) } as const;
    await changePaymentMethodRow(tx, scope, id, gone);
  });
}

/** A method of a connection that is gone has no gateway to tell. */
async function forget(deps: BillingDeps, scope: Scope, method: PaymentMethod): Promise<void> {
  try {
    const open = await findGateway(deps, scope, method.connection_id);
    await open?.gateway.forgetMethod(method.gateway_method_id);
  } catch (error) {
    throw error instanceof GatewayUnavailable ? gatewayUnavailable() : error;
  }
}

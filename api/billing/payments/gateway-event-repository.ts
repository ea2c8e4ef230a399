import type { GatewayEvent } from '../../../platform/gateways/gateway.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { filterConditions, findPage } from '../../../postgres/search.ts';
import type { GatewayEventRecord } from '../../../schemas/gateway-event.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { RefundRecord } from '../../../schemas/refund.ts';
import type { BillingDeps } from '../../deps.ts';
import { type Caller, newRecord } from '../../conventions/record.ts';
import type { OpenGateway } from '../gateways/open-gateway.ts';

/**
 * Our payment: by its id at the gateway, or by our reference if the gateway's answer has not been stored yet.
 */
export async function findPaymentOfEvent(
  db: Db,
  { scope, connection_id }: OpenGateway,
  event: GatewayEvent,
): Promise<string | null> {
  const [row] = await db<{ id: string }[]>`
    select id from payments
     where ${inScope(db, scope)} and connection_id = ${connection_id}
       and (gateway_payment_id = ${event.gateway_payment_id}
            or gateway_tracking_id = ${event.gateway_payment_id}
            or (gateway_payment_id is null and id = ${event.reference ?? ''}))
     order by gateway_payment_id nulls last limit 1`;
  return row?.id ?? null;
}

/** Our refund: by its id at the gateway, or by our reference. Null if it is unknown. */
export async function findRefundOfEvent(
  db: Db,
  { scope }: OpenGateway,
  paymentId: string,
  gatewayRefundId: string,
  reference: string | null,
): Promise<Pick<RefundRecord, 'id' | 'payment_id'> | null> {
  const [row] = await db<Pick<RefundRecord, 'id' | 'payment_id'>[]>`
    select id, payment_id from refunds
     where ${inScope(db, scope)} and payment_id = ${paymentId}
       and (gateway_refund_id = ${gatewayRefundId} or id = ${reference ?? ''})`;
  return row ?? null;
}

/**
 * False if the event was handled before: then it is counted as a repeat. Waits for a transaction that is handling
 * it now.
 */
export async function claimEvent(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  open: OpenGateway,
  event: GatewayEvent,
  paymentId: string | null,
): Promise<boolean> {
  const row = {
    ...newRecord(deps, caller, 'event'),
    connection_id: open.connection_id,
    event_id: event.event_id,
    kind: event.kind,
    payment_id: paymentId,
    gateway_payment_id: event.gateway_payment_id,
    outcome: 'ignored',
    reason: null,
  };
  const [claimed] = await tx<{ repeats: number }[]>`
    insert into gateway_events ${tx(row)}
    on conflict (connection_id, event_id) do update
      set repeats = gateway_events.repeats + 1, last_repeated_at = excluded.created_at
    returning repeats`;
  return claimed!.repeats === 0;
}

export interface GatewayEventFilter {
  readonly payment_id?: string | null;
  readonly invoice_id?: string | null;
  readonly search: Search;
}

/** Events that gateways sent about payments. */
export function searchGatewayEvents(
  db: Db,
  scope: Scope,
  { payment_id, invoice_id, search }: GatewayEventFilter,
): Promise<Page<GatewayEventRecord>> {
  return findPage<GatewayEventRecord>(db, {
    columns: db`id, event_id, kind, outcome, reason, repeats, last_repeated_at, created_at`,
    from: db`gateway_events`,
    where: db`${inScope(db, scope)}
      ${filterConditions(db, { payment_id }, ['payment_id'])}
      ${
        invoice_id
          ? db`and payment_id in (select id from payments
                                   where ${inScope(db, scope)} and destination_type = 'INVOICE'
                                     and destination_id = ${invoice_id})`
          : db``
      }`,
    search,
  });
}

/** What an event did. */
export interface EventOutcome {
  readonly outcome: 'applied' | 'set_aside' | 'ignored';
  /** Why it was set aside or ignored. */
  readonly reason: string | null;
}

/** Writes the outcome of an event that the transaction has claimed. */
export async function noteOutcome(
  tx: Transaction,
  { scope, connection_id }: OpenGateway,
  { event_id }: GatewayEvent,
  { outcome, reason }: EventOutcome,
): Promise<void> {
  await tx`
    update gateway_events set outcome = ${outcome}, reason = ${reason}
     where ${inScope(tx, scope)} and connection_id = ${connection_id}
       and event_id = ${event_id}`;
}

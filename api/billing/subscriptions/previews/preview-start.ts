import { payerOf } from '../../../../domain/subscription/hierarchy.ts';
import { epochMs, laterOf } from '../../../../domain/time/instant.ts';
import { isoTime } from '../../../../platform/clock.ts';
import type { Db, Scope, Transaction } from '../../../../postgres/client.ts';
import type { SubscriptionPreview } from '../../../../schemas/subscription-preview.ts';
import type {
  ActivateSubscriptionBody,
  CreateSubscriptionBody,
} from '../../../../schemas/subscription-requests.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps, UsageDeps } from '../../../deps.ts';
import { buildPlanned, onlyComputed, planInvoices } from '../../computing/compute-invoices.ts';
import { prepaidLedgers } from '../../computing/prepaid-credits.ts';
import { paidFrom } from '../../computing/projected-credits.ts';
import type { Settled } from '../../computing/settle.ts';
import { linesOfInvoices } from '../../records/invoice-line-repository.ts';
import { findLatestInvoice } from '../../records/subscription-invoice-repository.ts';
import { getSubscription } from '../../records/subscription-repository.ts';
import { activateSubscription } from '../activate-subscription.ts';
import { subscriptionPreview, previewTarget } from './preview-invoice.ts';
import { rolledBack } from '../../../conventions/rolled-back.ts';
import { createSubscription } from '../create-subscription.ts';

type Deps = BillingDeps & UsageDeps;

/** The first invoices of the subscription that `POST /subscriptions` makes of the body (billing 10.6). */
export const previewCreation = (
  deps: Deps,
  caller: Caller,
  body: CreateSubscriptionBody,
): Promise<SubscriptionPreview> =>
  previewStart(
    deps,
    caller,
    body.start_date ?? body.phases?.[0]?.start_date ?? null,
    async (tx, then) => (await createSubscription(tx, then, caller, body)).id,
  );

/** The first invoices of a draft that `POST /subscriptions/{id}/activate` begins (billing 10.6). */
export const previewActivation = (
  deps: Deps,
  caller: Caller,
  id: string,
  body: ActivateSubscriptionBody,
): Promise<SubscriptionPreview> =>
  previewStart(deps, caller, body.start_date, async (tx, then) => {
    await activateSubscription(tx, then, caller, id, body);
    return id;
  });

/**
 * Begins a subscription as of its start, or as of now if that has passed, reads its first invoices, and takes
 * everything back. Usage is read afterwards, so that no lock waits for ClickHouse.
 */
async function previewStart(
  deps: Deps,
  caller: Caller,
  start_date: string | null,
  begin: (tx: Transaction, deps: Deps) => Promise<string>,
): Promise<SubscriptionPreview> {
  const { pool, settings } = deps;
  const { scope, user_id } = caller;
  const at = laterOf(isoTime(deps.clock.now()), start_date);
  const then = { ...deps, clock: { now: () => epochMs(at) } };
  const options = { at, user_id, ignoreBilled: true, shownFrom: deps };
  const { opening, planned, ledgers } = await rolledBack(deps, async (tx) => {
    const subscription = await getSubscription(tx, scope, await begin(tx, then));
    const { current_period_start: start, current_period_end: end } = subscription;
    const target = previewTarget(subscription, { start, end }, settings);
    return {
      opening: await openingOf(tx, scope, subscription.id),
      planned: await planInvoices(tx, scope, [target], options),
      ledgers: await prepaidLedgers(tx, scope, payerOf(subscription), at),
    };
  });
  const closing = onlyComputed(await buildPlanned(deps, planned, options));
  return {
    opening_invoice: opening === null ? null : await subscriptionPreview(pool, scope, opening),
    closing_invoice: await subscriptionPreview(pool, scope, paidFrom(ledgers, closing, at)),
  };
}

/** The only invoice that a new subscription has; null if none is issued. */
async function openingOf(db: Db, scope: Scope, subscriptionId: string): Promise<Settled | null> {
  const invoice = await findLatestInvoice(db, scope, subscriptionId);
  if (invoice === null || invoice.invoice_status === 'SKIPPED') return null;
  return { invoice, lines: await linesOfInvoices(db, scope, [invoice.id]) };
}

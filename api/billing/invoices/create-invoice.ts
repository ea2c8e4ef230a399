import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import { BillingError, invalidField, invalidOperation } from '../../../domain/errors.ts';
import { paidPeriodAt } from '../../../domain/subscription/schedule.ts';
import { periodContaining } from '../../../domain/time/billing-periods.ts';
import type { Period } from '../../../domain/time/instant.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import { violatedConstraint, type Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { CreateInvoiceBody } from '../../../schemas/invoice-requests.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import { runCommand } from '../../conventions/command.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import {
  changeSubscription,
  getSubscription,
  lockSubscription,
  lockSubscriptionsUnchanged,
} from '../records/subscription-repository.ts';
import { computeInvoices, onlyComputed } from '../computing/compute-invoices.ts';
import type { ComputedInvoice, InvoiceTarget } from '../computing/invoice-target.ts';
import {
  findInvoiceOfPeriod,
  findVoidedInvoice,
} from '../records/subscription-invoice-repository.ts';
import { insertInvoiceLines } from '../records/invoice-line-repository.ts';
import { insertInvoices } from '../records/invoice-repository.ts';
import { cycleTarget, targetOf } from '../computing/targets.ts';
import { invoiceEvent } from '../computing/write-invoices.ts';
import { keyReused } from './key-reused.ts';

/**
 * The draft of a billing period, computed from the subscription. If the period has a draft, returns it, so
 * concurrent calls create only one; 409 if it is finalized (billing 17.1). Usage is read outside
 * the lock. The computation is used only if nothing changed in the meantime.
 */
export async function createPeriodInvoice(
  deps: BillingDeps,
  caller: Caller,
  body: CreateInvoiceBody,
): Promise<InvoiceRecord> {
  const { scope, user_id } = caller;
  const { subscription_id } = body;
  if (!subscription_id)
    throw invalidField('subscription_id', 'is required on a SUBSCRIPTION invoice');
  assertOfPeriod(body);
  return await runCommand<InvoiceRecord>(deps, 'subscription', async () => {
    const subscription = await getSubscription(deps.pool, scope, subscription_id);
    const at = isoTime(deps.clock.now());
    const target = await requestedTarget(deps, caller, subscription, body, at);
    const existing = await existingInvoice(deps.pool, caller, target);
    if (existing !== null) return { done: existing };
    const computed = onlyComputed(
      await computeInvoices(deps, deps.pool, scope, [target], { at, user_id }),
    );
    return (tx) => writeDraft(tx, deps, caller, body, computed);
  });
}

/** Fields that a computed invoice takes from its subscription. */
const COMPUTED_FIELDS = [
  'line_items', 'coupons', 'invoice_coupons', 'line_item_coupons', 'tax_rates', 'tax_rate_overrides',
] as const; // prettier-ignore

function assertOfPeriod(body: CreateInvoiceBody): void {
  for (const field of COMPUTED_FIELDS)
    if (body[field]?.length)
      throw invalidField(field, 'is computed from the subscription; leave it out');
  if (body.issue_date)
    throw invalidField('issue_date', 'is the time of the finalization; leave it out');
}

/** A billing period, or the invoice of another reason that was voided and is billed again. */
async function requestedTarget(
  deps: BillingDeps,
  { scope }: Caller,
  subscription: SubscriptionRow,
  body: CreateInvoiceBody,
  at: string,
): Promise<InvoiceTarget> {
  assertOfSubscription(subscription, body, at);
  const billing_reason = body.billing_reason || 'SUBSCRIPTION_CYCLE';
  const find = (period_start: string | null, period_end: string | null) =>
    findVoidedInvoice(deps.pool, scope, {
      ...{ subscription_id: subscription.id, billing_reason },
      ...{ period_start, period_end },
    });
  if (billing_reason === 'SUBSCRIPTION_CYCLE') {
    assertCyclesBilled(subscription);
    const period = requestedPeriod(subscription, body, at);
    const voided = await find(period.start, period.end);
    return { ...cycleTarget(subscription, period, deps.settings), voided };
  }
  const voided = await find(body.period_start ?? null, body.period_end ?? null);
  if (voided === null)
    throw invalidField(
      'billing_reason',
      `must be SUBSCRIPTION_CYCLE; no voided invoice with reason ${billing_reason} waits to be billed again`,
    );
  return { ...targetOf(voided, subscription), invoice: null, voided };
}

function assertOfSubscription(
  subscription: SubscriptionRow,
  body: CreateInvoiceBody,
  at: string,
): void {
  if (body.customer_id !== subscription.customer_id)
    throw invalidField('customer_id', 'is not the customer of the subscription');
  if (body.billing_period && body.billing_period !== subscription.billing_period)
    throw invalidField('billing_period', `the subscription is ${subscription.billing_period}`);
  if (body.due_date && body.due_date < at)
    throw invalidField('due_date', 'must not be in the past');
  if (body.currency !== subscription.currency)
    throw invalidField('currency', `the subscription is in ${subscription.currency}`);
  if (subscription.subscription_status === 'draft')
    throw invalidOperation('A draft subscription is not invoiced; activate it.');
  if (Boolean(body.period_start) !== Boolean(body.period_end))
    throw invalidField('period_end', 'must be sent together with period_start');
}

/** Periods of an incomplete subscription are caught up once its first invoice is paid (billing 10.3). */
function assertCyclesBilled({ subscription_status }: SubscriptionRow): void {
  if (subscription_status === 'incomplete')
    throw invalidOperation(
      'An incomplete subscription is billed for its periods once its first invoice is paid.',
      'subscription_status',
    );
}

function requestedPeriod(
  subscription: SubscriptionRow,
  body: CreateInvoiceBody,
  at: string,
): Period {
  const start = body.period_start ?? subscription.current_period_start;
  const end = body.period_end ?? subscription.current_period_end;
  const cell = paidPeriodAt(subscription, start);
  if (cell === null || cell.start !== start || cell.end !== end) {
    const hint =
      cell === null ? '' : `; the one that contains ${start} is ${cell.start} to ${cell.end}`;
    throw invalidField('period_start', `must be a paid billing period of the subscription${hint}`);
  }
  if (start > at) throw invalidField('period_start', 'must not be in the future');
  return { start, end };
}

async function existingInvoice(
  db: BillingDeps['pool'] | Parameters<typeof findInvoiceOfPeriod>[0],
  { scope }: Caller,
  {
    subscription,
    period,
    billing_reason,
  }: Pick<InvoiceTarget, 'subscription' | 'period' | 'billing_reason'>,
): Promise<InvoiceRecord | null> {
  const existing = await findInvoiceOfPeriod(db, scope, {
    subscription_id: subscription.id,
    period_start: period.start,
    period_end: period.end,
    billing_reason,
  });
  if (existing?.invoice_status === 'FINALIZED') throw alreadyInvoiced(existing);
  return existing;
}

const alreadyInvoiced = (invoice: InvoiceRecord): BillingError =>
  new BillingError(
    'conflict',
    'already_exists',
    `The period is invoiced already, by ${invoice.invoice_number} (${invoice.id}).`,
    [{ path: 'period_start', code: 'already_exists', message: `see invoice ${invoice.id}` }],
  );

/** Writes the draft or returns the existing one; null if the subscription has changed. */
async function writeDraft(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateInvoiceBody,
  computed: ComputedInvoice,
): Promise<InvoiceRecord | null> {
  const { subscription: known } = computed.target;
  const locked = await lockSubscription(tx, caller.scope, known.id);
  const existing = await existingInvoice(tx, caller, computed.target);
  if (existing !== null) return existing;
  if (locked.version !== known.version) return null;
  const grouped = (computed.target.grouped ?? []).map((part) => part.subscription);
  if ((await lockSubscriptionsUnchanged(tx, caller.scope, grouped)).size < grouped.length)
    return null;

  const subscription = await changeSubscription(tx, caller.scope, locked.id, {
    last_billing_sequence: locked.last_billing_sequence + 1,
    ...changed(deps, caller),
  });
  const invoice = {
    ...computed.invoice,
    billing_sequence: subscription.last_billing_sequence,
    idempotency_key: body.idempotency_key || null,
    metadata: body.metadata ?? {},
    ...(body.description ? { description: body.description } : {}),
    ...(body.due_date ? { due_date: body.due_date, due_date_given: true } : {}),
    invoice_pdf_url: body.invoice_pdf_url || null,
  };
  try {
    await insertInvoices(tx, [invoice]);
  } catch (error) {
    throw violatedConstraint(error) === 'invoices_idempotency_key_key' ? keyReused() : error;
  }
  await insertInvoiceLines(tx, computed.lines);
  const customer = computed.sources.customers.get(payerOf(subscription)) ?? null;
  const concerned = { invoice, lines: computed.lines, customer, subscription };
  await writeOutboxEvents(tx, [invoiceEvent('invoice.update', caller.scope, concerned)]);
  failpoint('api.create_invoice.before_commit');
  return invoice;
}

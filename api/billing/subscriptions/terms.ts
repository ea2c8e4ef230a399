import { invalidField } from '../../../domain/errors.ts';
import { validateCollection } from '../../../domain/subscription/activation.ts';
import { paymentTermDays } from '../../../domain/invoicing/due-date.ts';
import { validateAnchor, validateDates } from '../../../domain/subscription/create-rules.ts';
import { validatePhases } from '../../../domain/subscription/phases.ts';
import { billingAnchor } from '../../../domain/time/billing-anchor.ts';
import type { BillingSchedule } from '../../../domain/time/billing-periods.ts';
import type { CreateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import { refuseCommitmentContradictions, subscriptionCommitment } from './line-commitments.ts';
import { refuseTwice } from './selected-prices.ts';

/** Fills in the fields that a request omits (billing 10.2). */
export function subscriptionTerms(
  body: CreateSubscriptionBody,
  customer: { readonly timezone: string },
  now: string,
) {
  const terms = {
    collection_method: body.collection_method ?? 'charge_automatically',
    payment_behavior: body.payment_behavior ?? 'default_active',
    payment_terms: body.payment_terms ?? null,
    proration_behavior: body.proration_behavior ?? 'none',
    line_item_grouping: body.line_item_grouping ?? 'per_charge_period',
    gateway_payment_method_id: body.gateway_payment_method_id ?? null,
  } as const;
  return { ...terms, ...subscriptionCommitment(body), ...schedule(body, customer.timezone, now) };
}

function schedule(body: CreateSubscriptionBody, timezone: string, now: string): BillingSchedule {
  const phases = body.phases ?? [];
  const start_date = body.start_date ?? phases[0]?.start_date ?? now;
  const end_date = body.end_date ?? phases.at(-1)?.end_date ?? null;
  validatePhases(phases, { start_date, end_date: body.end_date ?? null });
  validateDates(start_date, end_date);
  const rhythm = {
    start_date,
    end_date,
    billing_cycle: body.billing_cycle ?? 'anniversary',
    billing_period: body.billing_period,
    billing_period_count: body.billing_period_count ?? 1,
    customer_timezone: body.customer_timezone ?? body.timezone ?? timezone,
  };
  const billing_anchor = body.billing_anchor ?? null;
  return { ...rhythm, billing_anchor: billingAnchor({ ...rhythm, billing_anchor }) };
}

/** Refuses contradictions within the body. Runs before the named records are read. */
export function refuseContradictions(body: CreateSubscriptionBody): void {
  if (!body.customer_id && !body.external_customer_id)
    throw invalidField('customer_id', 'is required unless external_customer_id is sent');
  if (body.start_date) validateDates(body.start_date, body.end_date ?? null);
  validateAnchor(body.billing_cycle ?? 'anniversary', body.billing_anchor ?? null);
  if (differ(body.customer_timezone, body.timezone))
    throw invalidField('customer_timezone', 'differs from timezone, which is the same field');
  if (differ(body.trial_period, body.trial_period_days))
    throw invalidField('trial_period', 'differs from trial_period_days, which is the same field');
  if (body.payment_terms) paymentTermDays(body.payment_terms);
  validateCollection({
    collection_method: body.collection_method ?? 'charge_automatically',
    payment_behavior: body.payment_behavior ?? 'default_active',
  });
  refuseCommitmentContradictions(body);
  if (body.subscription_status === 'draft' && body.phases?.length)
    throw invalidField('phases', 'cannot be given to a draft');
  if (body.checkout && body.subscription_status)
    throw invalidField(
      'subscription_status',
      'is not sent with checkout: the payment decides the status',
    );
  for (const [index, phase] of (body.phases ?? []).entries())
    refuseTwice(
      (phase.override_line_items ?? []).map(({ price_id }) => price_id),
      (override) => `phases[${index}].override_line_items[${override}].price_id`,
    );
  refuseTwice(
    (body.override_line_items ?? []).map(({ price_id }) => price_id),
    (index) => `override_line_items[${index}].price_id`,
  );
}

const differ = <Value>(left: Value | null | undefined, right: Value | null | undefined): boolean =>
  left !== null && left !== undefined && right !== null && right !== undefined && left !== right;

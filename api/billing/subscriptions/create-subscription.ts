import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import { invalidField } from '../../../domain/errors.ts';
import { isGated } from '../../../domain/invoicing/gated-invoice.ts';
import { moveSubscription } from '../../../domain/states/subscription.ts';
import { trialWithin } from '../../../domain/subscription/schedule.ts';
import { trialWindow } from '../../../domain/subscription/trial.ts';
import { firstPeriod, type BillingSchedule } from '../../../domain/time/billing-periods.ts';
import type { Period } from '../../../domain/time/instant.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { CreateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import { insertCreditGrants } from '../../catalog/credit-grants/repository.ts';
import { customerAnswer, lockCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import type { PriceRow } from '../../catalog/prices/repository.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { sharePlan } from '../../catalog/offers/plan-repository.ts';
import { insertAddonAssociation } from '../../catalog/offers/addon-association-repository.ts';
import { insertEntitlement } from '../../catalog/entitlements/repository.ts';
import { newAddons } from './addons.ts';
import { newOverrides } from './override-entitlements.ts';
import { newAssociations, writeAssociations } from './attach-coupons.ts';
import { applyGrants } from '../grants/apply-grants.ts';
import { assertSavedMethod, isOpeningCharged } from './collect-opening.ts';
import { grantsOfAddon, prorationOf } from './attached-grants.ts';
import { newCreditGrants } from './credit-grants.ts';
import { newLineItems } from './line-items.ts';
import { newPhaseLines } from './phase-line-items.ts';
import { selectedPrices } from './selected-prices.ts';
import { newPhases } from './new-phases.ts';
import { insertPhases, phaseEvent } from '../records/phase-repository.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import { opened, openingInvoice, writeOpening } from './opening-invoice.ts';
import {
  insertLineItems,
  insertSubscription,
  type NewSubscription,
} from '../records/subscription-repository.ts';
import { alignedWith, roleFields, roleOf, writeRelatives } from './hierarchy/roles.ts';
import { newTaxOverrides, writeTaxOverrides } from './tax-overrides.ts';
import { refuseContradictions, subscriptionTerms } from './terms.ts';

/**
 * Creates a subscription with its line items and, if it has begun, its opening invoice, all in one
 * transaction; a draft has none (billing 10.1, 3.1, 10.5). The billing run invoices periods that are already over,
 * oldest first, one transaction each (1.6). With a checkout and an amount due it stays a draft until its session is
 * paid.
 */
export async function createSubscription(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateSubscriptionBody,
): Promise<CreatedSubscription> {
  const at = isoTime(deps.clock.now());
  refuseContradictions(body);
  const role = await roleOf(tx, caller, body);
  const customer = await customerOf(tx, caller, body);
  const plan = await planOf(tx, caller, body.plan_id);
  const terms = subscriptionTerms(alignedWith(role, body), customer, at);
  const selection = {
    currency: body.currency,
    cadence: terms,
    start: terms.start_date,
    end: terms.end_date,
    include_price_ids: body.include_price_ids ?? null,
  };
  const { selected, sequence } = await selectedPrices(tx, caller, plan.id, selection, at);
  const trial = trialOf(body, terms, selected);

  const own_terms = {
    ...newRecord(deps, caller, 'subs'),
    ...terms,
    ...runningPeriod(terms, trial),
    customer_id: customer.id,
    plan_id: plan.id,
    currency: body.currency,
    lookup_key: body.lookup_key ?? null,
    metadata: body.metadata ?? {},
    subscription_status: moveSubscription(null, createdAs(body, trial)),
    billing_cadence: 'RECURRING' as const,
    include_price_ids: body.include_price_ids ?? null,
    synced_price_sequence: String(sequence),
    ...NOTHING_YET,
    due_at: null,
  };
  const draft: NewSubscription = {
    ...own_terms,
    ...(await roleFields(tx, caller, role, own_terms)),
  };
  await assertSavedMethod(tx, caller.scope, payerOf(draft), terms);
  const owner = {
    subscription_id: draft.id,
    customer_id: customer.id,
    plan,
    selection,
  };
  const phases = await newPhases(tx, deps, caller, owner, body.phases ?? [], at);
  const own =
    phases.length === 0
      ? await newLineItems(tx, deps, caller, owner, selected, body)
      : await newPhaseLines(tx, deps, caller, owner, phases, {
          ...body,
          trial_end: trial?.end ?? null,
        });
  const entitlements = await newOverrides(tx, deps, caller, draft, body);
  const addons = await newAddons(
    tx,
    deps,
    caller,
    { subscription: draft, owner, lines: own },
    body,
  );
  const lines = [...own, ...addons.flatMap((addon) => addon.lines)];
  const coupons = await newAssociations(tx, deps, caller, draft, lines, body, phases);
  const grants = await newCreditGrants(tx, deps, caller, draft, body);
  const brought = [];
  for (const { association } of addons)
    brought.push(
      ...(await grantsOfAddon(tx, deps, caller, draft, association, draft.proration_behavior)),
    );
  const taxes = await newTaxOverrides(tx, deps, caller, draft, customer, body);
  const opening = await openingInvoice(tx, deps, caller, {
    subscription: { ...draft, version: 1 },
    customer,
    at,
    unstored: { lines, coupons, taxes },
    hasCheckout: body.checkout != null,
  });
  const isCharged = await isOpeningCharged(tx, caller.scope, draft, opening);
  const subscription = await insertSubscription(tx, {
    ...draft,
    ...opened('create', draft, opening, at, isCharged),
  });
  await writeRelatives(tx, deps, caller, role, subscription);
  await insertPhases(
    tx,
    phases.map(({ phase }) => phase),
  );
  await insertLineItems(tx, lines.map(lineItemRow));
  for (const { association } of addons) await insertAddonAssociation(tx, association);
  for (const entitlement of entitlements) await insertEntitlement(tx, entitlement);
  await writeAssociations(tx, deps, caller, coupons);
  await insertCreditGrants(tx, [...grants, ...brought.map(({ grant }) => grant)]);
  const proration = prorationOf(brought);
  await applyGrants(tx, deps, caller, subscription, { at, refusal: 'throw', proration });
  await writeTaxOverrides(tx, taxes);
  await writeOutboxEvents(tx, [
    {
      scope: caller.scope,
      event_type:
        subscription.subscription_status === 'draft'
          ? 'subscription.draft.created'
          : 'subscription.created',
      payload: { subscription: subscriptionSnapshot(subscription, customer) },
    },
    ...phases.map(({ phase }) => phaseEvent('subscription.phase.created', caller.scope, phase)),
    ...(await writeOpening(tx, caller.scope, subscription, opening)),
  ]);
  const checkout =
    body.checkout != null && opening !== null && isGated(opening.invoice)
      ? await deps.checkoutGates.open(tx, deps, caller, body.checkout, {
          action: 'create_subscription',
          invoice: opening.invoice,
          target_key: subscription.id,
          configuration: { create_subscription_params: { subscription_id: subscription.id } },
        })
      : null;
  failpoint('api.create_subscription.before_commit');
  return { id: subscription.id, checkout_session_id: checkout?.id ?? null };
}

/** A stored subscription, and the session that it waits for. */
export interface CreatedSubscription {
  readonly id: string;
  readonly checkout_session_id: string | null;
}

const NOTHING_YET = {
  cancel_at: null,
  cancel_at_period_end: false,
  cancelled_at: null,
  cancel_proration_behavior: null,
  pause_status: 'none',
  active_pause_id: null,
  pause_at: null,
  resume_at: null,
  earlier_plans: [],
  earlier_anchors: [],
  last_billing_sequence: 0,
  billing_refusal: null,
  billing_retry_at: null,
  renewal_notified_for: null,
} as const;

/** The customer, locked against archiving; both references must name the same customer. */
export async function customerOf(
  tx: Transaction,
  caller: Caller,
  {
    customer_id,
    external_customer_id,
  }: Pick<CreateSubscriptionBody, 'customer_id' | 'external_customer_id'>,
): Promise<Customer> {
  const by = customer_id ? { id: customer_id } : { external_id: external_customer_id! };
  const customer = await lockCustomer(tx, caller.scope, by);
  if (customer_id && external_customer_id && customer.external_id !== external_customer_id)
    throw invalidField('external_customer_id', 'is not the external id of customer_id');
  if (customer.status !== 'published')
    throw invalidField('customer_id', `customer ${customer.id} is ${customer.status}`);
  return customerAnswer(customer);
}

/** The plan under a shared lock: concurrent creations do not block each other, archiving waits. */
async function planOf(
  tx: Transaction,
  caller: Caller,
  id: string,
): Promise<{ readonly id: string; readonly name: string }> {
  const plan = await sharePlan(tx, caller.scope, id);
  if (plan.status !== 'published') throw invalidField('plan_id', `plan ${id} is ${plan.status}`);
  return plan;
}

/** A draft keeps its trial until it is activated (billing 10.5). */
function createdAs(body: CreateSubscriptionBody, trial: Period | null) {
  if (body.subscription_status === 'draft') return 'create_draft';
  return trial === null ? 'create_active' : 'create_trialing';
}

/** `active` in the request means no trial (billing 10.4). */
function trialOf(
  body: CreateSubscriptionBody,
  terms: BillingSchedule,
  selected: readonly PriceRow[],
): Period | null {
  if (body.subscription_status === 'active') return null;
  const trial = trialWindow(
    terms.start_date,
    {
      trial_start: body.trial_start ?? null,
      trial_end: body.trial_end ?? null,
      trial_period_days: body.trial_period_days ?? body.trial_period ?? null,
    },
    selected.map((price) => ({
      type: price.type,
      is_recurring: price.billing_period !== 'ONETIME',
      trial_period: price.trial_period,
    })),
    terms.customer_timezone,
  );
  return trial === null ? null : trialWithin(trial, terms.end_date);
}

/** The trial, else the first period, as the running period. */
export function runningPeriod(terms: BillingSchedule, trial: Period | null) {
  const period = trial ?? firstPeriod(terms)!;
  return {
    trial_start: trial?.start ?? null,
    trial_end: trial?.end ?? null,
    current_period_start: period.start,
    current_period_end: period.end,
  };
}

const lineItemRow = ({ price: _, terms: __, ...row }: BilledLine) => row;

import { buildInvoice } from '../../support/build-invoice.ts';
import { decimal, sum } from '../../../domain/money.ts';
import type { PriceType } from '../../../domain/pricing/price.ts';
import { changeRows } from '../../../domain/pricing/line-change.ts';
import type { ProrationBehavior } from '../../../domain/pricing/proration.ts';
import { moveInvoice } from '../../../domain/states/invoice.ts';
import type { PauseRecordStatus } from '../../../domain/states/pause.ts';
import { moveSubscription, type SubscriptionStatus } from '../../../domain/states/subscription.ts';
import {
  openingStatus,
  validateCollection,
  type CollectionTerms,
} from '../../../domain/subscription/activation.ts';
import {
  cancelledAt,
  dueEnd,
  planCancellation,
  type CancellationType,
} from '../../../domain/subscription/cancellation.ts';
import { validateAnchor } from '../../../domain/subscription/create-rules.ts';
import { planPause, resume, type PauseMode } from '../../../domain/subscription/pause.ts';
import { waitsForPayment } from '../../../domain/subscription/pay-first.ts';
import {
  assertPlanChangeable,
  changeType,
  pairLines,
  type ServicePrice,
} from '../../../domain/subscription/plan-change.ts';
import { moveTrialEnd, trialWindow } from '../../../domain/subscription/trial.ts';
import { anchorAfterTrial } from '../../../domain/time/billing-anchor.ts';
import type { BillingCycle, RecurringPeriod } from '../../../domain/time/billing-grid.ts';
import {
  firstPeriod,
  periodContaining,
  type BillingSchedule,
} from '../../../domain/time/billing-periods.ts';
import { localDaysBetween } from '../../../domain/time/local-days.ts';
import type { Answer, JsonObject } from '../compare.ts';
import { oneOf, type AreaOperations } from '../operation.ts';
import { row } from './invoice.ts';
import { ANY_PERIOD, caseTerms } from './price.ts';

const NOW = '2026-01-10T00:00:00.000Z';

export const lifecycle: AreaOperations = {
  pause(given) {
    const decision = planPause(subscriptionOf(given), pauseRequest(given), nowOf(given));
    return {
      subscription_status: decision.subscription_status,
      pause_status: decision.pause_status,
      pause_record_status: decision.pause.pause_status,
    };
  },

  resume: (given) => ({
    ...resume(
      given['subscription_status'] as SubscriptionStatus,
      given['pause_status'] as PauseRecordStatus,
    ),
  }),

  pause_impact(given) {
    const { pause } = planPause(subscriptionOf(given), pauseRequest(given), nowOf(given));
    return { pause_duration_days: localDaysBetween(pause.pause_start, pause.pause_end!, '') };
  },

  trial_window(given) {
    const prices = given['plan_prices'] as unknown as {
      type: PriceType;
      trial_period: number;
      billing_period?: string;
    }[];
    const window = trialWindow(
      given['start_date'] as string,
      {
        trial_start: null,
        trial_end: null,
        trial_period_days: (given['trial_period_days'] ?? null) as number | null,
      },
      prices.map((price) => ({ ...price, is_recurring: price.billing_period !== 'ONETIME' })),
      (given['customer_timezone'] ?? '') as string,
    );
    return { trial_start: window?.start ?? null, trial_end: window?.end ?? null };
  },

  create_trialing_subscription() {
    const built = buildInvoice({
      currency: 'usd',
      invoice_status: moveInvoice('DRAFT', 'finalize'),
      lines: [row('line', '0')],
    });
    return {
      subscription_status: moveSubscription(null, 'create_trialing'),
      invoice: {
        billing_reason: 'SUBSCRIPTION_TRIAL_START',
        invoice_status: 'FINALIZED',
        total: built.total,
        payment_status: built.payment_status,
      },
    };
  },

  trial_end_payment(given) {
    const terms = given as unknown as CollectionTerms;
    validateCollection(terms);
    const due = decimal(given['amount_due'] as string);
    const outcome = openingStatus(terms, due, given['payment_succeeds'] as boolean);
    const trialEnd = given['trial_end'] as string;
    return {
      subscription_status: moveSubscription('trialing', `convert_${outcome}`),
      current_period_start: anchorAfterTrial(
        { billing_cycle: 'anniversary', billing_anchor: NOW },
        trialEnd,
      ),
    };
  },

  cancel: (given) => ({
    ...planCancellation(
      {
        ...subscriptionOf(given),
        end_date: (given['end_date'] ?? null) as string | null,
        has_pending_cancellation: false,
      },
      {
        cancellation_type: given['cancellation_type'] as CancellationType,
        cancel_at: (given['cancel_at'] ?? null) as string | null,
        supersedes: false,
      },
      nowOf(given),
    ),
  }),

  process_periods(given) {
    const now = given['now'] as string;
    const end_date = (given['end_date'] ?? null) as string | null;
    const end = dueEnd({ cancel_at: (given['cancel_at'] ?? null) as string | null, end_date }, now);
    if (end !== null) return { ...cancelledAt({ subscription_status: 'active' }, end) };
    const period = periodContaining(scheduleOf(given, end_date), now);
    return {
      subscription_status: 'active',
      current_period_start: period?.start,
      current_period_end: period?.end,
    };
  },

  create_subscription_period(given) {
    const period = firstPeriod(scheduleOf(given, (given['end_date'] ?? null) as string | null));
    return { current_period_start: period!.start, current_period_end: period!.end };
  },

  create_subscription_valid(given) {
    validateAnchor(
      given['billing_cycle'] as BillingCycle,
      (given['billing_anchor'] ?? null) as string | null,
    );
    return {};
  },

  modify_trial_end: (given) => ({
    subscription_status: 'trialing',
    ...moveTrialEnd(
      { subscription_status: (given['subscription_status'] ?? 'trialing') as SubscriptionStatus },
      given['new_trial_end'] as string,
      given['now'] as string,
    ),
  }),

  plan_change_type: (given) => ({
    change_type: changeType(monthly(given['closing']!), monthly(given['opening']!)),
  }),

  plan_change_v2(given) {
    const asked = oneOf('target', given['target'] ?? 'other_plan', ['current_plan', 'other_plan']);
    const target = asked === 'current_plan' ? 'plan' : 'other-plan';
    assertPlanChangeable(
      {
        plan_id: 'plan',
        currency: 'usd',
        subscription_status: (given['subscription_status'] ?? 'active') as SubscriptionStatus,
        subscription_type: (given['subscription_type'] ?? 'standalone') as string,
        active_pause_id: null,
        has_phases: false,
        has_pending_cancellation: false,
        has_pending_checkout: false,
      },
      target,
    );
    const amount = given['identical_price'] === false ? '20' : '10';
    const opening = { ...fixedFee('new'), amount };
    const [pairing] = pairLines([{ id: 'line', price: fixedFee('old') }], [opening]);
    return {
      line_item_kept: pairing!.action === 'keep',
      line_price_is_target_plan_price: 'price_id' in pairing! && pairing.price_id === 'new',
      new_invoices: pairing!.action === 'keep' ? 0 : 1,
    };
  },

  attach_addon(given) {
    const due = addonDue(given);
    const waits = waitsForPayment(given['checkout'] === true, due);
    return {
      addon_status: waits ? 'pending' : 'active',
      checkout_created: waits,
      line_items_added: waits ? 0 : 1,
      invoice: waits
        ? { invoice_status: moveInvoice(null, 'create'), invoice_type: 'ONE_OFF' }
        : null,
    };
  },
};

/** A subscription whose fields the case leaves open. */
const subscriptionOf = (given: JsonObject) => ({
  subscription_status: (given['subscription_status'] ?? 'active') as SubscriptionStatus,
  subscription_type: (given['subscription_type'] ?? 'standalone') as string,
  current_period_start: (given['current_period_start'] ?? ANY_PERIOD.start) as string,
  current_period_end: (given['current_period_end'] ?? ANY_PERIOD.end) as string,
  customer_timezone: (given['customer_timezone'] ?? '') as string,
  active_pause_id: null,
  has_phases: false,
  has_pending_plan_change: false,
});

const nowOf = (given: JsonObject): string => (given['now'] ?? NOW) as string;

const scheduleOf = (given: JsonObject, end_date: string | null): BillingSchedule => ({
  start_date: given['start_date'] as string,
  end_date,
  billing_anchor: (given['billing_anchor'] ?? given['start_date']) as string,
  billing_cycle: (given['billing_cycle'] ?? 'anniversary') as BillingCycle,
  billing_period: given['billing_period'] as RecurringPeriod,
  billing_period_count: (given['billing_period_count'] ?? 1) as number,
  customer_timezone: (given['customer_timezone'] ?? '') as string,
});

const pauseRequest = (given: JsonObject) => ({
  pause_mode: given['pause_mode'] as PauseMode,
  pause_start: (given['pause_start'] ?? null) as string | null,
  pause_end: (given['pause_end'] ?? null) as string | null,
  pause_days: (given['pause_days'] ?? null) as number | null,
});

const monthly = (charges: Answer) =>
  (charges as unknown as { amount: string; quantity: string }[]).map((charge) => ({
    ...charge,
    billing_period: 'MONTHLY' as const,
    billing_period_count: 1,
  }));

const fixedFee = (id: string): ServicePrice => ({
  id,
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  currency: 'usd',
  amount: '10',
  meter_id: null,
  filter_values: null,
  lookup_key: 'fee',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  invoice_cadence: 'ADVANCE',
});

/** What attaching the addon in the middle of the period charges at once. */
function addonDue(given: JsonObject) {
  const price = caseTerms({
    billing_model: 'FLAT_FEE',
    currency: 'usd',
    amount: given['price_amount']!,
  });
  const rows = changeRows({
    before: null,
    after: {
      price: { ...price, type: (given['price_type'] ?? 'FIXED') as PriceType },
      quantity: '1',
    },
    invoice_cadence: (given['invoice_cadence'] ?? 'ADVANCE') as 'ADVANCE' | 'ARREAR',
    effective_at: NOW,
    proration_behavior: (given['proration_behavior'] ?? 'none') as ProrationBehavior,
    cells: [{ reference: ANY_PERIOD, service: ANY_PERIOD }],
  });
  return sum(rows.map((charge) => charge.amount));
}

import { invalidField } from '../../../domain/errors.ts';
import { grantExpiry } from '../../../domain/wallet/grant-application.ts';
import { isoTime } from '../../../platform/clock.ts';
import { parse } from '../../../platform/http/parse.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { OnboardingAction } from '../../../schemas/settings/workflows.ts';
import { CreateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import { CreateWalletBody } from '../../../schemas/wallet-requests.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { createSubscription } from '../subscriptions/create-subscription.ts';
import { createWallet } from '../wallets/create-wallet.ts';
import { cadencesOfPlan, type PlanCadence } from './repository.ts';

type Of<Name extends OnboardingAction['action']> = Extract<OnboardingAction, { action: Name }>;

/**
 * Does one action of an onboarding for its customer, at the time of `deps.clock`. Returns the id of a
 * subscription whose opening invoice is to be collected. Refuses as the route of the same name does.
 */
export async function runAction(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  customerId: string,
  action: OnboardingAction,
): Promise<string | null> {
  const customer = await getCustomer(tx, caller.scope, customerId);
  const at = isoTime(deps.clock.now());
  if (action.action === 'create_wallet') {
    await createWallet(tx, deps, caller, walletOf(action, customer, at));
    return null;
  }
  const cadences = await cadencesOfPlan(tx, caller.scope, action.plan_id);
  const terms = termsOf(action, customer, cadences);
  const { plan_id, billing_cycle, start_date } = action;
  const sent = { plan_id, billing_cycle, start_date, ...terms, customer_id: customer.id };
  return (await createSubscription(tx, deps, caller, parse(CreateSubscriptionBody, sent, 'body')))
    .id;
}

function walletOf(action: Of<'create_wallet'>, customer: Customer, at: string): CreateWalletBody {
  const { currency, conversion_rate, wallet_type, initial_credits_to_load } = action;
  const {
    initial_credits_expiration_duration: expiration_duration,
    initial_credits_expiration_duration_unit: expiration_duration_unit,
  } = action;
  const expiry =
    expiration_duration == null || expiration_duration_unit == null
      ? null
      : grantExpiry(
          { expiration_type: 'DURATION', expiration_duration, expiration_duration_unit },
          at,
          customer.timezone,
          null,
        );
  const sent = {
    ...{
      customer_id: customer.id,
      currency,
      conversion_rate,
      wallet_type,
      initial_credits_to_load,
    },
    initial_credits_expiry_date_utc: expiry,
  };
  return parse(CreateWalletBody, sent, 'body');
}

/**
 * Currency and billing period: those of the action, else the customer's currency or the only currency of the
 * plan, and the only period of the plan in it. Refuses a plan with several.
 */
function termsOf(
  action: Of<'create_subscription'>,
  { billing_currency }: Pick<Customer, 'billing_currency'>,
  cadences: readonly PlanCadence[],
): PlanCadence {
  const currencies = new Set(cadences.map(({ currency }) => currency));
  const [only] = currencies;
  const own =
    billing_currency !== null && currencies.has(billing_currency) ? billing_currency : null;
  const currency = action.currency ?? own ?? (currencies.size === 1 ? only! : null);
  if (currency === null)
    throw invalidField(
      'currency',
      `the plan has prices in ${currencies.size} currencies; name one`,
    );
  const fitting = cadences.filter(
    (cadence) =>
      cadence.currency === currency &&
      (action.billing_period == null || cadence.billing_period === action.billing_period),
  );
  if (fitting.length === 1) return fitting[0]!;
  throw invalidField(
    'billing_period',
    `the plan has ${fitting.length} billing periods in ${currency}; name one`,
  );
}

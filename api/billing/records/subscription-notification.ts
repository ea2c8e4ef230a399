import type { Customer } from '../../../schemas/customer.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';

type NotifiedCustomer = Pick<
  Customer,
  | 'id' | 'external_id' | 'environment_id' | 'name' | 'email' | 'address_line1' | 'address_line2'
  | 'address_city' | 'address_state' | 'address_postal_code' | 'address_country' | 'timezone' | 'metadata'
>; // prettier-ignore

/** A customer as notifications carry it (money 17.3). */
export function customerSnapshot(customer: Customer): NotifiedCustomer {
  return {
    id: customer.id,
    external_id: customer.external_id,
    environment_id: customer.environment_id,
    name: customer.name,
    email: customer.email,
    address_line1: customer.address_line1,
    address_line2: customer.address_line2,
    address_city: customer.address_city,
    address_state: customer.address_state,
    address_postal_code: customer.address_postal_code,
    address_country: customer.address_country,
    timezone: customer.timezone,
    metadata: customer.metadata,
  };
}

/** A subscription as notifications carry it: a short snapshot of that time (money 17.3). */
export function subscriptionSnapshot(row: SubscriptionRow, customer: Customer | null) {
  return {
    id: row.id,
    customer_id: row.customer_id,
    plan_id: row.plan_id,
    lookup_key: row.lookup_key,
    subscription_status: row.subscription_status,
    subscription_type: row.subscription_type,
    currency: row.currency,
    start_date: row.start_date,
    end_date: row.end_date,
    current_period_start: row.current_period_start,
    current_period_end: row.current_period_end,
    cancelled_at: row.cancelled_at,
    cancel_at: row.cancel_at,
    cancel_at_period_end: row.cancel_at_period_end,
    trial_start: row.trial_start,
    trial_end: row.trial_end,
    billing_cadence: row.billing_cadence,
    billing_period: row.billing_period,
    billing_period_count: row.billing_period_count,
    pause_status: row.pause_status,
    parent_subscription_id: row.parent_subscription_id,
    metadata: row.metadata,
    customer: customer === null ? null : customerSnapshot(customer),
  };
}

import type { ApiClient } from '../demo/api-client.ts';
import type { SeedCatalog } from './catalog.ts';
import type { PlanName } from './customers.ts';

interface Created {
  readonly id: string;
}

/** Units that a plan includes in a month, for a tenant with `EVENTS` events. */
export const INCLUDED: Readonly<Record<'input_tokens' | 'images', Record<PlanName, number>>> = {
  input_tokens: { Starter: 1_000_000, Team: 5_000_000, Enterprise: 50_000_000 },
  images: { Starter: 100, Team: 500, Enterprise: 2_000 },
};
const EVENTS = 1_000_000;
const SUPPORT: Readonly<Record<PlanName, string>> = {
  Starter: 'E-mail, within two days',
  Team: 'E-mail, within four hours',
  Enterprise: 'Telephone, at any hour',
};
const PLANS: readonly PlanName[] = ['Starter', 'Team', 'Enterprise'];

/** A smaller tenant includes less, so that customers use their limits up just as often. At least 1. */
export function includedIn(units: number, events: number): number {
  return Math.max(1, Math.round((units * events) / EVENTS));
}

/** Features of the product, and what each plan grants of them: limits, switches and texts. */
export async function createBenefits(
  api: ApiClient,
  { plans, meters }: SeedCatalog,
  { events, startDate }: { readonly events: number; readonly startDate: string },
): Promise<void> {
  const feature = (name: string, type: string, rest: object = {}) =>
    api.post<Created>('/features', { name, type, ...rest });
  const metered = (name: string, meter_id: string, singular: string) =>
    feature(name, 'metered', { meter_id, unit_singular: singular, unit_plural: `${singular}s` });
  const input = await metered('Input tokens', meters.input_tokens, 'token');
  await metered('Output tokens', meters.output_tokens, 'token');
  const images = await metered('Images', meters.images, 'image');
  const signOn = await feature('Single sign-on', 'boolean', {
    description: 'People sign in with the account of their company.',
  });
  const support = await feature('Support', 'static');

  const items = PLANS.flatMap((plan) => {
    const limit = ({ id }: Created, units: number) => ({
      plan_id: plans[plan],
      feature_id: id,
      feature_type: 'metered',
      usage_limit: includedIn(units, events),
      usage_reset_period: 'MONTHLY',
      start_date: startDate,
      // Usage above the limit is charged, not refused.
      is_soft_limit: true,
    });
    const other = ({ id }: Created, feature_type: string, value: object) => ({
      plan_id: plans[plan],
      feature_id: id,
      feature_type,
      start_date: startDate,
      ...value,
    });
    return [
      limit(input, INCLUDED.input_tokens[plan]),
      limit(images, INCLUDED.images[plan]),
      other(signOn, 'boolean', { is_enabled: plan !== 'Starter' }),
      other(support, 'static', { static_value: SUPPORT[plan] }),
    ];
  });
  await api.post('/entitlements/bulk', { items });
}

/** Three months at a lower price for customers who ask for it. */
export const LAUNCH_CODE = 'LAUNCH20';

export async function createCoupon(api: ApiClient): Promise<void> {
  await api.post('/coupons', {
    name: 'Launch, 20% off',
    type: 'percentage',
    percentage_off: '20',
    cadence: 'repeated',
    duration_in_periods: 3,
    coupon_code: LAUNCH_CODE,
  });
}

/** Usage of a month in usd, of the heaviest customer of a tenant with `EVENTS` events. */
const SPEND = { warning: 200, critical: 500 };

/** Turns on spend alerts: only subscriptions with levels of their own have any. */
export async function enableSpendAlerts(api: ApiClient): Promise<void> {
  await api.put('/settings/subscription_alert_config', { value: { alert_enabled: true } });
}

/** Raised when the usage of the running month costs more than a level. */
export async function watchSpend(
  api: ApiClient,
  subscriptionId: string,
  events: number,
): Promise<void> {
  const above = (spend: number) => ({
    threshold: ((spend * events) / EVENTS).toFixed(2),
    condition: 'above',
  });
  await api.post('/alerts/setting', {
    entity_type: 'subscription',
    entity_id: subscriptionId,
    config: {
      alert_enabled: true,
      warning: above(SPEND.warning),
      critical: above(SPEND.critical),
    },
  });
}

import { Decimal } from '../../../domain/money.ts';
import type { BillingWorld } from '../../support/billing-world.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';
import {
  FACTOR,
  PRICE_UNITS,
  type Contract,
  type Grant,
  type Service,
  type Use,
} from './contract.ts';
import { beginAsPreviewed } from './begin-as-previewed.ts';
import { iso } from './naive-calendar.ts';
import { Metered, each, ok, overrideOf, sellFee } from './sell-offer.ts';

/** Addons and prices of a contract that is sold. */
export interface Sold {
  readonly addons: readonly { readonly id: string }[];
  readonly prices: readonly { readonly id: string }[];
}

/** Sells the contract to a new customer: its catalog, what was paid ahead, and its usage, which is already counted. */
export async function signContract(
  world: BillingWorld,
  contract: Contract,
  uses: readonly Use[],
  name: string,
  /** More of the request for the subscription, from what it is sold. */
  more: object | ((sold: Sold) => object) = {},
) {
  const { catalog, api, usage } = world;
  const plan = await catalog.plan();
  const fees = await each(contract.fees, (fee) => sellFee(world, plan, contract, fee));
  const metered = new Metered(world, contract);
  const services = await each(contract.services, (service) => metered.sell(service, plan));
  const entitlements = await each(contract.services, (service) => metered.entitle(service, plan));
  const targets = await each(contract.moves, async (move) => {
    const target = await catalog.plan();
    await each(move.fees, (fee) => sellFee(world, target, contract, fee));
    await each(move.services, (service) => metered.sell(service, target));
    await each(move.services, (service) => metered.entitle(service, target));
    return target;
  });
  const addons = await each(contract.addons, async (addon, index) => {
    const code = `${name}-addon-${index}`;
    const { id } = await ok(world, '/addons', { name: code, lookup_key: code });
    const owner = { id, entity_type: 'ADDON' };
    await each(addon.fees, (fee) => sellFee(world, owner, contract, fee));
    await each(addon.services, (service) => metered.sell(service, owner));
    await each(addon.allowances, ({ service: name, ...allowance }) => {
      const sold = contract.services.find((one) => one.name === name);
      const free = { ...allowance, isSoft: sold?.free?.isSoft ?? false, own: null };
      return metered.entitle({ name, free }, owner);
    });
    return owner;
  });
  await each(contract.edits, async (edit) => {
    if (edit.kind === 'service') await metered.meterOf(edit.service);
  });
  await completeBackfills(api.pool);
  const customer = await catalog.customer({ external_id: name });
  const others = await each(contract.isDelegated ? [null] : contract.members, (_, index) =>
    catalog.customer({ external_id: `${name}-${index + 1}` }),
  );
  const payer = contract.isDelegated ? others[0]! : customer;
  if (contract.credits > 0) await payAhead(world, payer, contract);
  const grants = contract.grants.map((grant, index) => grantOf(grant, `Grant ${index}`));
  if (contract.grantsOfPlan)
    for (const grant of grants)
      await ok(world, '/creditgrants', { ...grant, scope: 'PLAN', plan_id: plan.id });
  const taxes = await each(contract.taxes, async ({ percent, inclusive }, index) => {
    const code = `${name}-${index}`;
    await ok(world, '/taxes/rates', {
      ...{ name: code, code, tax_rate_type: 'percentage', percentage_value: percent },
    });
    return {
      ...{ tax_rate_code: code, currency: moneyOf(contract), auto_apply: true },
      tax_behavior: inclusive ? 'inclusive' : 'exclusive',
    };
  });
  if (contract.isDelegated) for (const tax of taxes) await taxCustomer(world, payer, contract, tax);
  const { off, commitment } = contract;
  const coupon =
    off === null
      ? null
      : await ok(world, '/coupons', {
          ...{ name: 'Off', type: 'percentage', percentage_off: String(off.percent) },
          ...(off.periods === null
            ? { cadence: 'forever' }
            : { cadence: 'repeated', duration_in_periods: off.periods }),
        });
  const lineCoupons = await lineCouponsOf(world, contract, [...fees, ...services], name);
  for (const [service, meter] of metered.meters) {
    for (const [by, user] of [customer, ...others].entries()) {
      const own = uses.filter((use) => use.service === service && use.by === by);
      const events = own.map(({ at, value }) => ({ at: iso(at), value }));
      if (events.length > 0) await usage.useAll(meter, user, events);
    }
  }
  const seats = contract.fees.map(({ quantity }, index) => ({
    price_id: fees[index]!.id,
    quantity: String(quantity),
  }));
  const subscription = await beginAsPreviewed(world, '/subscriptions', {
    ...{ customer_id: customer.id, plan_id: plan.id, currency: contract.currency },
    ...{ billing_period: contract.unit, billing_period_count: contract.count },
    ...{ billing_cycle: contract.cycle, customer_timezone: contract.zone },
    ...trialOf(contract),
    ...(contract.anchor === null ? {} : { billing_anchor: iso(contract.anchor) }),
    ...{ start_date: iso(contract.start), end_date: contract.end && iso(contract.end) },
    proration_behavior: contract.prorated ? 'create_prorations' : 'none',
    line_item_grouping: contract.grouped ? 'per_billing_period' : 'per_charge_period',
    include_price_ids: [...fees, ...services].map(({ id }) => id),
    override_line_items: seats,
    line_item_commitments: commitmentsOf(contract.services, services),
    coupons: coupon === null || off?.phase !== undefined ? [] : [coupon.id],
    ...lineCoupons,
    // Of a customer who pays for another one, those of the payer count.
    tax_rate_overrides: contract.isDelegated ? [] : taxes,
    ...(contract.grants.length === 0 || contract.grantsOfPlan
      ? {}
      : { credit_grants: grants.map((grant) => ({ ...grant, scope: 'SUBSCRIPTION' })) }),
    override_entitlements: contract.services.flatMap(({ free }, index) =>
      free?.own?.replaces
        ? [{ entitlement_id: entitlements[index]!.id, usage_limit: free.own.limit }]
        : [],
    ),
    ...familyOf(contract, others),
    ...(commitment === null
      ? {}
      : {
          commitment_amount: commitment.value,
          commitment_duration: commitment.duration,
          overage_factor: commitment.factor,
          enable_true_up: commitment.trueUp,
        }),
    ...(contract.phase === null ? {} : { phases: phasesOf(contract, fees, services, coupon) }),
    ...(typeof more === 'function' ? more({ addons, prices: [...fees, ...services] }) : more),
  });
  await each(contract.services, async ({ name, free }) => {
    if (free === null || free.own === null || free.own.replaces) return;
    const owner = { id: subscription.id, entity_type: 'SUBSCRIPTION' };
    await metered.entitle({ name, free: { ...free, limit: free.own.limit } }, owner);
  });
  const { meters } = metered;
  const overrides = new Map<string, { id: string }>();
  if (contract.limits.length > 0) {
    const owner = `entity_type=SUBSCRIPTION&entity_ids=${subscription.id}`;
    const { body } = await api.get(`/v1/entitlements?${owner}&limit=1000`);
    for (const { name } of contract.services) {
      const feature = metered.features.get(meters.get(name)!.id);
      const own = body.items.find((one: any) => one.feature_id === feature?.id);
      if (own !== undefined) overrides.set(name, own);
    }
  }
  const sold = [...contract.fees, ...contract.services].map(({ name }) => name);
  const prices = new Map(sold.map((name, index) => [name, [...fees, ...services][index]!.id]));
  const plans = [plan, ...targets];
  return { customer, subscription, others, addons, meters, overrides, plans, prices };
}

export type Signed = Awaited<ReturnType<typeof signContract>>;

function trialOf({ trial, trialOf }: Contract): object {
  if (typeof trialOf === 'object')
    return { trial_start: iso(trialOf.start), trial_end: iso(trialOf.end) };
  return trialOf === 'prices' || trial === 0 ? {} : { trial_period_days: trial };
}

function familyOf(
  { isDelegated, members }: Contract,
  others: readonly { readonly external_id: string }[],
): object {
  if (isDelegated)
    return { inheritance: { invoicing_customer_external_id: others[0]!.external_id } };
  const first = others.filter((_, index) => members[index]!.joins === null);
  if (first.length === 0) return {};
  const ids = first.map(({ external_id }) => external_id);
  return { inheritance: { external_customer_ids_to_inherit_subscription: ids } };
}

function grantOf({ credits, rate, every, expires, priority }: Grant, name: string): object {
  return {
    ...{ name, credits, conversion_rate: rate, topup_conversion_rate: rate },
    ...(every === null
      ? { cadence: 'ONETIME' }
      : { cadence: 'RECURRING', period: every.unit, period_count: every.count }),
    ...(typeof expires === 'string'
      ? { expiration_type: expires }
      : {
          expiration_type: 'DURATION',
          expiration_duration: expires.count,
          expiration_duration_unit: expires.unit,
        }),
    ...(priority === null ? {} : { priority }),
  };
}

/** The coupon of one line, as the request for the subscription names it. */
async function lineCouponsOf(
  world: BillingWorld,
  { lineOff, fees, services, currency }: Contract,
  prices: readonly { readonly id: string }[],
  name: string,
): Promise<object> {
  if (lineOff === null) return {};
  const { percent, amount } = lineOff;
  const coupon = await ok(world, '/coupons', {
    ...{ name: 'Off a line', coupon_code: `line-${name}`, cadence: 'forever' },
    ...(amount === undefined
      ? { type: 'percentage', percentage_off: String(percent) }
      : { type: 'fixed', amount_off: amount, currency }),
  });
  const index = [...fees, ...services].findIndex(({ name }) => name === lineOff.line);
  return { line_item_coupons: { [prices[index]!.id]: [coupon.id] } };
}

function phasesOf(
  { start, end, phase, inUnits, off, fees: soldFees, services: soldServices }: Contract,
  fees: readonly { id: string }[],
  services: readonly { id: string }[],
  coupon: { id: string } | null,
): object[] {
  const coupons = (of: 'first' | 'second') =>
    coupon !== null && off?.phase === of ? { coupons: [coupon.id] } : {};
  const overrides = [
    ...soldFees.map(({ later, quantity }, index) => ({
      ...{ price_id: fees[index]!.id, quantity: String(quantity) },
      ...(later === null ? {} : overrideOf(later, inUnits)),
    })),
    ...soldServices.flatMap(({ later }, index) =>
      later === null ? [] : [{ price_id: services[index]!.id, ...overrideOf(later, inUnits) }],
    ),
  ];
  // A phase that overrides the price of a line says its commitment too.
  const changed = soldServices.map((service) =>
    service.later === null ? { ...service, commitment: null } : service,
  );
  return [
    { start_date: iso(start), end_date: iso(phase!), ...coupons('first') },
    {
      start_date: iso(phase!),
      line_item_commitments: commitmentsOf(changed, services),
      ...(end === null ? {} : { end_date: iso(end) }),
      override_line_items: overrides,
      ...coupons('second'),
    },
  ];
}

const commitmentsOf = (sold: readonly Service[], prices: readonly { id: string }[]): object =>
  Object.fromEntries(
    sold.flatMap(({ commitment }, index) =>
      commitment === null ? [] : [[prices[index]!.id, committed(commitment)]],
    ),
  );

const committed = ({
  type,
  value,
  factor,
  trueUp,
  windowed,
  duration,
}: NonNullable<Service['commitment']>) => ({
  commitment_type: type,
  [`commitment_${type}`]: value,
  ...{ overage_factor: factor, enable_true_up: trueUp, is_window_commitment: windowed },
  ...(duration === null ? {} : { commitment_duration: duration }),
});

const taxCustomer = (
  world: BillingWorld,
  { id }: { id: string },
  { start }: Contract,
  tax: object,
) =>
  ok(world, '/taxes/associations', {
    ...{ ...tax, entity_type: 'customer', entity_id: id, start_date: iso(start) },
  });

async function payAhead(
  world: BillingWorld,
  customer: { id: string },
  contract: Contract,
): Promise<void> {
  const wallet = await ok(world, '/wallets', {
    ...{ customer_id: customer.id, currency: moneyOf(contract), wallet_type: 'PRE_PAID' },
    ...(contract.creditRate === '1' ? {} : { conversion_rate: contract.creditRate }),
    config: { allowed_price_types: ['ALL'] },
  });
  await ok(world, `/wallets/${wallet.id}/top-up`, {
    credits_to_add: new Decimal(contract.credits).div(contract.creditRate).toFixed(),
    ...{ transaction_reason: 'FREE_CREDIT_GRANT', idempotency_key: `${wallet.id}-credits` },
  });
}

/** The currency of the invoices. */
export const moneyOf = ({ currency }: Contract): string => (currency === 'crx' ? 'usd' : currency);

/** The custom currency of some contracts. */
export const offerCustomCurrency = (world: BillingWorld) =>
  world.api.put('/v1/settings/custom_currency_config', {
    value: {
      currencies: [
        { code: 'crx', name: 'Credits', symbol: '¤', conversion_factors: { usd: FACTOR } },
      ],
    },
  });

export async function offerPriceUnits(world: BillingWorld): Promise<void> {
  for (const [base_currency, { code, rate }] of Object.entries(PRICE_UNITS))
    await ok(world, '/prices/units', {
      ...{ name: code, code, symbol: '¤', base_currency, conversion_rate: rate },
    });
}

import type { BillingWorld } from '../../support/billing-world.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';
import { FACTOR, type Contract, type Fee, type Model, type Service, type Use } from './contract.ts';
import { iso } from './naive-calendar.ts';

/** Sells the contract to a new customer: its catalog, what was paid ahead, and its usage, which is already counted. */
export async function signContract(
  world: BillingWorld,
  contract: Contract,
  uses: readonly Use[],
  name: string,
) {
  const { catalog, api, usage } = world;
  const plan = await catalog.plan();
  const fees = await each(contract.fees, (fee) => sellFee(world, plan, contract, fee));
  const meters = new Map<string, { id: string }>();
  const services = await each(contract.services, async (service) => {
    const isMax = service.bucket?.sum === false;
    const meter = await catalog.meter(
      { type: isMax ? 'MAX' : 'SUM', field: 'v' },
      { name: service.name },
    );
    meters.set(service.name, meter);
    if (service.free !== null) await grant(world, plan, meter, service.free);
    return await sellService(world, plan, meter, contract, service);
  });
  await completeBackfills(api.pool);
  const customer = await catalog.customer({ external_id: name });
  if (contract.credits > 0) await payAhead(world, customer, contract);
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
  for (const { name: service } of contract.services) {
    const own = uses.filter((use) => use.service === service);
    const events = own.map(({ at, value }) => ({ at: iso(at), value }));
    if (events.length > 0) await usage.useAll(meters.get(service)!, customer, events);
  }
  const seats = contract.fees.map(({ quantity }, index) => ({
    price_id: fees[index]!.id,
    quantity: String(quantity),
  }));
  const subscription = await ok(world, '/subscriptions', {
    ...{ customer_id: customer.id, plan_id: plan.id, currency: contract.currency },
    ...{ billing_period: contract.unit, billing_period_count: contract.count },
    ...{ billing_cycle: contract.cycle, customer_timezone: contract.zone },
    ...(contract.anchor === null ? {} : { billing_anchor: iso(contract.anchor) }),
    ...{ start_date: iso(contract.start), end_date: contract.end && iso(contract.end) },
    proration_behavior: contract.prorated ? 'create_prorations' : 'none',
    line_item_grouping: contract.grouped ? 'per_billing_period' : 'per_charge_period',
    include_price_ids: [...fees, ...services].map(({ id }) => id),
    override_line_items: seats,
    line_item_commitments: Object.fromEntries(
      contract.services.flatMap((service, index) =>
        service.commitment === null ? [] : [[services[index]!.id, committed(service.commitment)]],
      ),
    ),
    coupons: coupon === null ? [] : [coupon.id],
    tax_rate_overrides: taxes,
    ...(commitment === null
      ? {}
      : {
          commitment_amount: commitment.value,
          commitment_duration: commitment.duration,
          overage_factor: commitment.factor,
          enable_true_up: commitment.trueUp,
        }),
    ...(contract.phase === null ? {} : { phases: phasesOf(contract, fees, services) }),
  });
  return { customer, subscription };
}

function phasesOf(
  { start, end, phase, fees: soldFees, services: soldServices }: Contract,
  fees: readonly { id: string }[],
  services: readonly { id: string }[],
): object[] {
  const overrides = [
    ...soldFees.map(({ later, quantity }, index) => ({
      ...{ price_id: fees[index]!.id, quantity: String(quantity) },
      ...(later === null ? {} : termsOf(later)),
    })),
    ...soldServices.flatMap(({ later }, index) =>
      later === null ? [] : [{ price_id: services[index]!.id, ...termsOf(later) }],
    ),
  ];
  return [
    { start_date: iso(start), end_date: iso(phase!) },
    {
      start_date: iso(phase!),
      ...(end === null ? {} : { end_date: iso(end) }),
      override_line_items: overrides,
    },
  ];
}

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

function termsOf(model: Model): object {
  switch (model.kind) {
    case 'flat':
      return { billing_model: 'FLAT_FEE', amount: model.each };
    case 'package':
      return {
        ...{ billing_model: 'PACKAGE', amount: model.each },
        transform_quantity: { divide_by: model.size, round: 'up' },
      };
    default:
      return {
        ...{ billing_model: 'TIERED', tier_mode: model.kind.toUpperCase() },
        tiers: model.tiers.map(({ upTo, each: unit_amount, flat }) => ({
          ...{ up_to: upTo, unit_amount, flat_amount: flat },
        })),
      };
  }
}

/** What the prices of the plan have in common. */
export const priceOf = (
  plan: { readonly id: string },
  currency: string,
  type: 'FIXED' | 'USAGE',
) => ({ entity_type: 'PLAN', entity_id: plan.id, type, price_unit_type: 'FIAT', currency });

const sellFee = (world: BillingWorld, plan: { id: string }, { currency }: Contract, fee: Fee) =>
  ok(world, '/prices', {
    ...priceOf(plan, currency, 'FIXED'),
    ...{ billing_period: fee.unit, billing_period_count: fee.count, display_name: fee.name },
    invoice_cadence: fee.advance ? 'ADVANCE' : 'ARREAR',
    ...termsOf(fee.model),
  });

const sellService = (
  world: BillingWorld,
  plan: { id: string },
  meter: { id: string },
  { currency }: Contract,
  service: Service,
) =>
  ok(world, '/prices', {
    ...priceOf(plan, currency, 'USAGE'),
    ...{ billing_period: service.unit, billing_period_count: service.count },
    ...{ display_name: service.name, meter_id: meter.id, invoice_cadence: 'ARREAR' },
    ...(service.bucket === null ? {} : { bucket_size: service.bucket.size }),
    ...termsOf(service.model),
  });

async function grant(
  world: BillingWorld,
  plan: { id: string },
  meter: { id: string },
  { limit, reset }: NonNullable<Service['free']>,
): Promise<void> {
  const feature = await ok(world, '/features', {
    ...{ name: 'Free', lookup_key: meter.id, type: 'metered', meter_id: meter.id },
  });
  await ok(world, '/entitlements', {
    ...{ plan_id: plan.id, feature_id: feature.id, feature_type: 'metered', usage_limit: limit },
    ...(reset === null ? {} : { usage_reset_period: reset }),
  });
}

async function payAhead(
  world: BillingWorld,
  customer: { id: string },
  contract: Contract,
): Promise<void> {
  const wallet = await ok(world, '/wallets', {
    ...{ customer_id: customer.id, currency: moneyOf(contract), wallet_type: 'PRE_PAID' },
    config: { allowed_price_types: ['ALL'] },
  });
  await ok(world, `/wallets/${wallet.id}/top-up`, {
    credits_to_add: String(contract.credits),
    ...{ transaction_reason: 'FREE_CREDIT_GRANT', idempotency_key: `${wallet.id}-credits` },
  });
}

/** The currency of the invoices. */
const moneyOf = ({ currency }: Contract): string => (currency === 'crx' ? 'usd' : currency);

/** The custom currency of some contracts. */
export const offerCustomCurrency = (world: BillingWorld) =>
  world.api.put('/v1/settings/custom_currency_config', {
    value: {
      currencies: [
        { code: 'crx', name: 'Credits', symbol: '¤', conversion_factors: { usd: FACTOR } },
      ],
    },
  });

/** The body of the answer; fails if the request is refused. */
export async function ok(world: BillingWorld, path: string, body: object): Promise<any> {
  const answer = await world.api.post(`/v1${path}`, body);
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function each<Value, Result>(
  values: readonly Value[],
  work: (value: Value, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, value] of values.entries()) results.push(await work(value, index));
  return results;
}

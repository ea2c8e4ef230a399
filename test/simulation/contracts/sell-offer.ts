import type { BillingWorld } from '../../support/billing-world.ts';
import {
  PRICE_UNITS,
  type Contract,
  type Fee,
  type Model,
  type Quota,
  type Service,
} from './contract.ts';

export function termsOf(model: Model): object {
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

/** The terms of a new price, in the currency of the contract or in its price unit. */
function pricedBy(model: Model, { currency, inUnits }: Contract): object {
  if (!inUnits || currency === 'crx') return termsOf(model);
  const { amount, tiers, ...terms } = termsOf(model) as { amount?: string; tiers?: object[] };
  const config = amount === undefined ? { price_unit_tiers: tiers } : { amount };
  return {
    ...terms,
    price_unit_type: 'CUSTOM',
    price_unit_config: { price_unit: PRICE_UNITS[currency].code, ...config },
  };
}

export function overrideOf(model: Model, inUnits: boolean): object {
  if (!inUnits) return termsOf(model);
  const { amount, tiers, ...terms } = termsOf(model) as { amount?: string; tiers?: object[] };
  return {
    ...terms,
    ...(amount === undefined ? { price_unit_tiers: tiers } : { price_unit_amount: amount }),
  };
}

/** A plan, or an addon. */
export interface Owner {
  readonly id: string;
  readonly entity_type?: string;
}

/** What the prices of a plan or an addon have in common. */
export const priceOf = (
  { id, entity_type = 'PLAN' }: Owner,
  currency: string,
  type: 'FIXED' | 'USAGE',
) => ({ entity_type, entity_id: id, type, price_unit_type: 'FIAT', currency });

export const sellFee = (world: BillingWorld, plan: Owner, contract: Contract, fee: Fee) =>
  ok(world, '/prices', {
    ...priceOf(plan, contract.currency, 'FIXED'),
    ...feeTerms(fee, contract),
    ...(contract.trialOf === 'prices' ? { trial_period_days: contract.trial } : {}),
  });

export const feeTerms = (fee: Fee, contract: Contract) => ({
  ...{ billing_period: fee.unit, billing_period_count: fee.count, display_name: fee.name },
  invoice_cadence: fee.advance ? 'ADVANCE' : 'ARREAR',
  ...pricedBy(fee.model, contract),
});

export const serviceTerms = (service: Service, meter: { id: string }, contract: Contract) => ({
  ...{ billing_period: service.unit, billing_period_count: service.count },
  ...{ display_name: service.name, meter_id: meter.id, invoice_cadence: 'ARREAR' },
  ...(service.bucket === null ? {} : { bucket_size: service.bucket.size }),
  ...pricedBy(service.model, contract),
});

const sellService = (
  world: BillingWorld,
  plan: Owner,
  meter: { id: string },
  contract: Contract,
  service: Service,
) =>
  ok(world, '/prices', {
    ...priceOf(plan, contract.currency, 'USAGE'),
    ...serviceTerms(service, meter, contract),
  });

/** Meters and their features, each made when a plan or an addon first sells it. */
export class Metered {
  readonly #world: BillingWorld;
  readonly #contract: Contract;
  readonly features = new Map<string, { id: string }>();
  readonly meters = new Map<string, { id: string }>();

  constructor(world: BillingWorld, contract: Contract) {
    this.#world = world;
    this.#contract = contract;
  }

  async sell(service: Service, owner: Owner): Promise<{ id: string }> {
    const meter = await this.meterOf(service);
    return await sellService(this.#world, owner, meter, this.#contract, service);
  }

  async meterOf({ name, max }: Service): Promise<{ id: string }> {
    const aggregation = { type: max ? 'MAX' : 'SUM', field: 'v' };
    const meter = this.meters.get(name) ?? (await this.#world.catalog.meter(aggregation, { name }));
    this.meters.set(name, meter);
    return meter;
  }

  /** Free usage of a service; null: it has none. */
  async entitle(
    { name, free }: Pick<Service, 'name' | 'free'>,
    { id, entity_type = 'PLAN' }: Owner,
  ): Promise<{ id: string } | null> {
    if (free === null) return null;
    const { limit, reset, isSoft, quota } = free;
    const feature = await this.#featureOf(this.meters.get(name)!);
    return await ok(this.#world, '/entitlements', {
      ...{ entity_type, entity_id: id, feature_id: feature.id, is_soft_limit: isSoft },
      ...{ feature_type: 'metered', usage_limit: limit },
      ...(reset === null ? {} : { usage_reset_period: reset }),
      ...(quota === null ? {} : granted(quota)),
    });
  }

  async #featureOf({ id }: { id: string }): Promise<{ id: string }> {
    const body = { name: 'Free', lookup_key: id, type: 'metered', meter_id: id };
    const feature = this.features.get(id) ?? (await ok(this.#world, '/features', body));
    this.features.set(id, feature);
    return feature;
  }
}

const granted = ({ units, unit, length, withUnit }: Quota): object => ({
  ...{ grant_quota: String(units), grant_measure: 'quantity' },
  ...{ grant_duration_unit: unit, grant_duration_value: length },
  grant_allocation_behavior: withUnit ? 'unit_start' : 'first_usage',
});

/** The body of the answer; fails if the request is refused. */
export async function ok(world: BillingWorld, path: string, body: object): Promise<any> {
  const answer = await world.api.post(`/v1${path}`, body);
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export async function each<Value, Result>(
  values: readonly Value[],
  work: (value: Value, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, value] of values.entries()) results.push(await work(value, index));
  return results;
}

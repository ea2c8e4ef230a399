import { invalidField, notFound } from '../../../domain/errors.ts';
import { displayAmount, minorDigits, type Currency } from '../../../domain/currency.ts';
import { decimal, decimalText, type Decimal } from '../../../domain/money.ts';
import { convertPriceUnit } from '../../../domain/pricing/price-unit.ts';
import {
  trialDays,
  validatePrice,
  type PriceDefinition,
  type TierDefinition,
} from '../../../domain/pricing/validate-price.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { Meter } from '../../../schemas/meter.ts';
import type { CreatePriceBody, PriceTier } from '../../../schemas/price.ts';
import type { PriceUnit } from '../../../schemas/price-unit.ts';
import { below } from '../../conventions/bulk-error.ts';
import type { BillingDeps } from '../../deps.ts';
import { noPriceGroup, publishedGroup } from '../groups/repository.ts';
import { findMeters } from '../meters/repository.ts';
import { findPriceUnits, publishedUnitByCode } from '../price-units/repository.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { assertKnownCurrency, currencyByCode } from '../../tenancy/settings/custom-currencies.ts';
import { shareEntity, type Entity } from '../offers/entity-repository.ts';
import { insertPrice, type NewPriceRow, type PriceRow } from './repository.ts';
import { widenMeters } from './widen-meters.ts';

/**
 * Creates prices, all or none, in the given order. In a bulk call a refusal names the field below
 * `items[n].`. If the prices filter on properties that a meter does not keep yet, the meter gets a version
 * that keeps them.
 */
export async function createPrices(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  bodies: readonly CreatePriceBody[],
  options: { readonly bulk: boolean },
): Promise<PriceRow[]> {
  const rows: PriceRow[] = [];
  for (const [index, body] of bodies.entries()) {
    try {
      rows.push(await createPrice(tx, deps, caller, body));
    } catch (error) {
      throw options.bulk ? below(error, `items[${index}]`) : error;
    }
  }
  await widenMeters(tx, deps, caller, rows);
  return rows;
}

async function createPrice(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreatePriceBody,
): Promise<PriceRow> {
  const { scope } = caller;
  const references = await getReferences(tx, scope, body, body.group_id ?? null);
  if (references.meter !== null && references.meter.status !== 'published')
    throw invalidField('meter_id', `Meter ${references.meter.id} is ${references.meter.status}`);
  const record = newRecord(deps, caller, 'price');
  const entity = await shareOwner(tx, scope, body);
  await assertKnownCurrency(tx, scope, body.currency);
  const currency = await currencyByCode(tx, scope, body.currency);
  return await insertPrice(tx, {
    ...record,
    ...priceTerms(body, references.unit, currency),
    entity_type: body.entity_type,
    entity_id: body.entity_id,
    parent_price_id: record.id,
    display_name: body.display_name ?? references.meter?.name ?? entity.name,
    description: body.description ?? null,
    lookup_key: body.lookup_key ?? null,
    metadata: body.metadata ?? {},
    group_id: body.group_id ?? null,
  });
}

/** What the price is sold through. 404 if it does not exist in the scope, 400 if nothing can be sold through it. */
export async function shareOwner(
  tx: Transaction,
  scope: Scope,
  { entity_type, entity_id }: Pick<CreatePriceBody, 'entity_type' | 'entity_id'>,
): Promise<Entity> {
  if (entity_type === 'PRICE')
    throw invalidField('entity_type', 'must be PLAN, SUBSCRIPTION, ADDON or COSTSHEET');
  return await shareEntity(tx, scope, entity_type, entity_id);
}

export interface PriceReferents {
  readonly meter: Meter | null;
  readonly unit: PriceUnit | null;
}

/**
 * Reads the references of a price and refuses a price that contradicts itself. Contradictions (400) come
 * before references not found (404): an invalid body is always reported as invalid.
 */
export async function getReferences(
  tx: Transaction,
  scope: Scope,
  price: PriceDefinition & Pick<CreatePriceBody, 'billing_cadence'>,
  groupId: string | null,
  // A version of a price keeps its unit, even if archived.
  kept: PriceUnit | null = null,
): Promise<PriceReferents> {
  if (price.billing_cadence === 'ONETIME' && price.billing_period !== 'ONETIME')
    throw invalidField(
      'billing_cadence',
      `cannot be ONETIME with billing_period ${price.billing_period}`,
    );
  const meterId = price.type === 'USAGE' ? price.meter_id : null;
  const unitCode = price.price_unit_config?.price_unit ?? null;
  const [[meter = null], unit, group = null] = await Promise.all([
    findMeters(tx, scope, meterId ? [meterId] : []),
    kept ?? (unitCode === null ? null : publishedUnitByCode(tx, scope, unitCode)),
    groupId ? publishedGroup(tx, scope, groupId) : undefined,
  ]);
  validatePrice(price, {
    meter: meter ?? (meterId ? UNKNOWN_METER : null),
    price_unit:
      unit ?? (unitCode === null ? null : { code: unitCode, base_currency: price.currency }),
    group,
  });
  if (meterId && meter === null) throw notFound('Meter', meterId);
  if (unitCode !== null && unit === null) throw notFound('Price unit', unitCode);
  if (groupId && group === null) throw noPriceGroup();
  return { meter, unit };
}

/**
 * A price's unit at the rate of the price's creation; later changes of the unit do not apply (money 12.1).
 */
export async function keptUnit(
  tx: Transaction,
  scope: Scope,
  price: Pick<PriceRow, 'price_unit_id' | 'conversion_rate'>,
): Promise<PriceUnit | null> {
  if (price.price_unit_id === null) return null;
  const [unit] = await findPriceUnits(tx, scope, [price.price_unit_id]);
  return unit === undefined ? null : { ...unit, conversion_rate: price.conversion_rate };
}

/** Passes every check of contradictions. */
const UNKNOWN_METER = { aggregation: { type: 'SUM', bucket_size: null } } as const;

/** Decimals of a price as stored and printed (billing 0.2). */
const PRICE_DECIMALS = 15;
const priceText = (amount: string | number): string =>
  decimalText(decimal(String(amount)).toDecimalPlaces(PRICE_DECIMALS));

type Terms = Pick<
  NewPriceRow,
  | 'type' | 'billing_model' | 'billing_period' | 'billing_period_count' | 'billing_cadence'
  | 'invoice_cadence' | 'currency' | 'amount' | 'display_amount' | 'meter_id' | 'filter_values'
  | 'min_quantity' | 'price_unit_type' | 'price_unit' | 'price_unit_id' | 'price_unit_amount'
  | 'price_unit_tiers' | 'display_price_unit_amount' | 'conversion_rate' | 'tier_mode' | 'tiers'
  | 'transform_quantity' | 'trial_period' | 'bucket_size' | 'start_date' | 'end_date'
>; // prettier-ignore

/**
 * The stored terms of a valid definition, with unit amounts converted to money at the unit's current rate.
 * `currency` is the display form of the price's currency.
 */
export function priceTerms(
  price: PriceDefinition,
  unit: Pick<PriceUnit, 'id' | 'code' | 'symbol' | 'base_currency' | 'conversion_rate'> | null,
  currency: Currency,
): Terms {
  const config = price.price_unit_config ?? null;
  const money =
    config === null || unit === null
      ? { amount: price.amount ?? null, tiers: price.tiers ?? null }
      : convertPriceUnit(config, decimal(unit.conversion_rate));
  const amount = priceText(money.amount ?? '0');
  const isTiered = price.billing_model === 'TIERED';
  const unitAmount = priceText(config?.amount ?? '0');
  return {
    type: price.type,
    billing_model: price.billing_model,
    billing_period: price.billing_period,
    billing_period_count: price.billing_period_count ?? 1,
    billing_cadence: 'RECURRING',
    invoice_cadence: price.invoice_cadence,
    currency: price.currency.toLowerCase(),
    amount,
    display_amount: displayAmount(decimal(amount), currency),
    meter_id: price.type === 'USAGE' ? (price.meter_id ?? null) : null,
    filter_values: filterValues(price.filter_values ?? {}),
    min_quantity: price.min_quantity == null ? null : String(price.min_quantity),
    price_unit_type: price.price_unit_type ?? 'FIAT',
    price_unit: unit?.code ?? null,
    price_unit_id: unit?.id ?? null,
    price_unit_amount: unitAmount,
    price_unit_tiers: isTiered && config ? tierRecords(config.price_unit_tiers) : null,
    display_price_unit_amount:
      unit === null || isTiered ? null : displayInUnit(decimal(unitAmount), unit),
    conversion_rate: unit?.conversion_rate ?? '1',
    tier_mode: isTiered ? (price.tier_mode ?? null) : null,
    tiers: isTiered ? tierRecords(money.tiers) : null,
    transform_quantity: {
      divide_by: price.transform_quantity?.divide_by ?? 1,
      round: price.transform_quantity?.round ?? null,
    },
    trial_period: trialDays(price) ?? 0,
    bucket_size: price.bucket_size === 'none' ? null : (price.bucket_size ?? null),
    start_date: price.start_date ?? null,
    end_date: price.end_date ?? null,
  };
}

const filterValues = (values: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(Object.entries(values).map(([key, list]) => [key, [...new Set(list)]]));

function tierRecords(tiers: readonly TierDefinition[] | null | undefined): PriceTier[] {
  return (tiers ?? []).map((tier) => ({
    up_to: tier.up_to ?? null,
    unit_amount: priceText(tier.unit_amount),
    flat_amount: tier.flat_amount == null ? null : priceText(tier.flat_amount),
  }));
}

/** Symbol of the unit, then the amount, padded like its base currency: `cr250.00` (billing 2.6). */
function displayInUnit(amount: Decimal, unit: Pick<PriceUnit, 'symbol' | 'base_currency'>): string {
  const digits = Math.max(minorDigits(unit.base_currency), amount.decimalPlaces());
  return `${unit.symbol}${amount.toFixed(digits)}`;
}

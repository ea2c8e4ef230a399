import type { AggregationType, FilterValues } from '../metering/usage.ts';
import type { BucketSize } from '../time/usage-windows.ts';
import type { Decimal } from '../money.ts';
import type { BillingPeriod } from './cadence.ts';
import type {
  BillingModel,
  InvoiceCadence,
  PriceType,
  PriceUnitType,
  TierMode,
  TransformQuantity,
} from './price.ts';
import { problems, readDecimal, type Problems } from './problems.ts';
import { epochMs } from '../time/instant.ts';

/** A price as a client sends it. Types and enums are checked; consistency is not. */
export interface PriceDefinition {
  readonly type: PriceType;
  readonly billing_model: BillingModel;
  readonly billing_period: BillingPeriod;
  readonly billing_period_count?: number | null;
  readonly invoice_cadence: InvoiceCadence;
  readonly currency: string;
  readonly price_unit_type?: PriceUnitType | null;
  readonly price_unit_config?: PriceUnitConfig | null;
  readonly amount?: string | number | null;
  readonly tier_mode?: TierMode | null;
  readonly tiers?: readonly TierDefinition[] | null;
  readonly transform_quantity?: TransformQuantity | null;
  readonly meter_id?: string | null;
  readonly filter_values?: FilterValues | null;
  readonly bucket_size?: BucketSize | 'none' | null;
  readonly min_quantity?: number | null;
  readonly trial_period?: number | null;
  readonly trial_period_days?: number | null;
  readonly start_date?: string | null;
  readonly end_date?: string | null;
}

export interface TierDefinition {
  readonly up_to?: number | null;
  readonly unit_amount: string | number;
  readonly flat_amount?: string | number | null;
}

export interface PriceUnitConfig {
  readonly price_unit: string;
  readonly amount?: string | number | null;
  readonly price_unit_tiers?: readonly TierDefinition[] | null;
}

/**
 * Stored records that the definition refers to. Null means no reference. The caller checks that they exist.
 */
export interface PriceReferences {
  readonly meter: {
    readonly aggregation: {
      readonly type: AggregationType;
      readonly bucket_size: BucketSize | null;
    };
  } | null;
  readonly price_unit: { readonly code: string; readonly base_currency: string } | null;
  readonly group: { readonly entity_type: string } | null;
}

/**
 * Refuses a price that is inconsistent or cannot be rated: one 400 `validation_error` with every problem,
 * each with the path of the field and a stable code (billing 2.1). Rating relies on this check.
 */
export function validatePrice(price: PriceDefinition, references: PriceReferences): void {
  const found = problems();
  checkCurrency(price, found);
  checkType(price, references, found);
  checkUnit(price, references, found);
  checkModel(price, found);
  checkBucket(price, references, found);
  checkQuantityAndTrial(price, found);
  checkDates(price, found);
  if (references.group !== null && references.group.entity_type !== 'price') {
    found.add('group_id', 'group_not_for_prices', 'must be a group of entity type price');
  }
  found.refuse();
}

function checkCurrency(price: PriceDefinition, found: Problems): void {
  if (!/^[a-z0-9]{3}$/i.test(price.currency)) {
    found.add('currency', 'invalid_currency', 'must be a code of three characters');
  }
  const count = price.billing_period_count ?? 1;
  if (!Number.isInteger(count) || count < 1) {
    found.add('billing_period_count', 'invalid_count', 'must be an integer of at least 1');
  }
}

function checkType(price: PriceDefinition, references: PriceReferences, found: Problems): void {
  if (price.type === 'FIXED') {
    if (Object.keys(price.filter_values ?? {}).length > 0) {
      found.add('filter_values', 'filter_on_fixed', 'select usage: a FIXED price has none');
    }
    return;
  }
  if (!price.meter_id || references.meter === null) {
    found.add('meter_id', 'meter_required', 'is required for a USAGE price');
  }
  if (price.invoice_cadence === 'ADVANCE') {
    found.add('invoice_cadence', 'usage_in_advance', 'must be ARREAR for a USAGE price');
  }
  if (price.billing_period === 'ONETIME') {
    found.add('billing_period', 'usage_one_time', 'must recur for a USAGE price');
  }
  for (const [key, values] of Object.entries(price.filter_values ?? {})) {
    if (key === '' || values.length === 0) {
      found.add(`filter_values.${key}`, 'empty_filter', 'needs a key and at least one value');
    }
  }
}

/** A FIAT price has its amounts in its own fields. A CUSTOM price has them only in `price_unit_config`. */
function checkUnit(price: PriceDefinition, references: PriceReferences, found: Problems): void {
  const config = price.price_unit_config ?? null;
  if ((price.price_unit_type ?? 'FIAT') === 'FIAT') {
    if (config !== null) {
      found.add(
        'price_unit_config',
        'price_unit_config_on_fiat',
        'is for price_unit_type CUSTOM only',
      );
    }
    return;
  }
  if (config === null) {
    found.add(
      'price_unit_config',
      'price_unit_config_required',
      'is required for price_unit_type CUSTOM',
    );
    return;
  }
  if (references.price_unit === null) {
    found.add('price_unit_config.price_unit', 'price_unit_required', 'must name a pricing unit');
  } else if (references.price_unit.base_currency.toLowerCase() !== price.currency.toLowerCase()) {
    found.add(
      'price_unit_config.price_unit',
      'price_unit_currency',
      `has base currency ${references.price_unit.base_currency}, the price is in ${price.currency}`,
    );
  }
  for (const field of ['amount', 'tiers'] as const) {
    if (isGiven(price[field]) && !isEmptyList(price[field])) {
      found.add(
        field,
        'fiat_amount_with_custom_unit',
        'must not be sent with price_unit_type CUSTOM: use price_unit_config',
      );
    }
  }
}

function checkModel(price: PriceDefinition, found: Problems): void {
  const custom = price.price_unit_type === 'CUSTOM';
  if (custom && !price.price_unit_config) return;
  const amount = custom ? price.price_unit_config!.amount : price.amount;
  const tiers = custom ? price.price_unit_config!.price_unit_tiers : price.tiers;
  const amountPath = custom ? 'price_unit_config.amount' : 'amount';
  const tiersPath = custom ? 'price_unit_config.price_unit_tiers' : 'tiers';

  if (price.billing_model === 'TIERED') {
    checkNoAmount(amount, amountPath, found);
    checkTiers(price, tiers ?? [], tiersPath, found);
  } else {
    if (!isGiven(amount)) {
      found.add(amountPath, 'amount_required', `is required for ${price.billing_model}`);
    } else checkAmount(amount, amountPath, found);
    if ((tiers ?? []).length > 0) {
      found.add(tiersPath, 'tiers_without_tiered', 'are for billing_model TIERED only');
    }
    if (price.tier_mode) {
      found.add('tier_mode', 'tier_mode_without_tiered', 'is for billing_model TIERED only');
    }
  }
  checkPackage(price, found);
}

/** A stored TIERED price has amount 0 and a client may send it back. Any other amount would be ignored. */
function checkNoAmount(amount: PriceDefinition['amount'], path: string, found: Problems): void {
  if (!isGiven(amount)) return;
  const value = checkAmount(amount, path, found);
  if (value !== null && !value.isZero()) {
    found.add(path, 'amount_with_tiers', 'has no meaning with billing_model TIERED');
  }
}

/** Tiers may be in any order; rating sorts them (billing 2.2). */
function checkTiers(
  price: PriceDefinition,
  tiers: readonly TierDefinition[],
  path: string,
  found: Problems,
): void {
  if (!price.tier_mode) {
    found.add('tier_mode', 'tier_mode_required', 'is required for TIERED: VOLUME or SLAB');
  }
  if (tiers.length === 0) found.add(path, 'tiers_required', 'need at least one tier');
  const bounds = new Set<number | null>();
  for (const [index, tier] of tiers.entries()) {
    const at = `${path}[${index}]`;
    checkAmount(tier.unit_amount, `${at}.unit_amount`, found);
    if (isGiven(tier.flat_amount)) checkAmount(tier.flat_amount, `${at}.flat_amount`, found);
    const upTo = tier.up_to ?? null;
    if (upTo !== null && (!Number.isSafeInteger(upTo) || upTo < 1)) {
      found.add(`${at}.up_to`, 'invalid_up_to', 'must be an integer of at least 1, or null');
    } else if (bounds.has(upTo)) {
      const twice = upTo === null ? 'only one tier may be open' : `${upTo} ends two tiers`;
      found.add(`${at}.up_to`, upTo === null ? 'second_open_tier' : 'duplicate_up_to', twice);
    }
    bounds.add(upTo);
  }
}

function checkPackage(price: PriceDefinition, found: Problems): void {
  const transform = price.transform_quantity ?? null;
  if (transform === null) {
    if (price.billing_model === 'PACKAGE') {
      found.add('transform_quantity', 'package_size_required', 'is required for PACKAGE');
    }
    return;
  }
  if (!Number.isSafeInteger(transform.divide_by) || transform.divide_by < 1) {
    found.add(
      'transform_quantity.divide_by',
      'invalid_package_size',
      'must be an integer of at least 1',
    );
  } else if (price.billing_model !== 'PACKAGE' && transform.divide_by !== 1) {
    found.add(
      'transform_quantity',
      'package_size_without_package',
      'divides quantities for billing_model PACKAGE only',
    );
  }
}

function checkBucket(price: PriceDefinition, references: PriceReferences, found: Problems): void {
  if (!price.bucket_size || price.bucket_size === 'none') return;
  const refuse = (code: string, message: string) => found.add('bucket_size', code, message);
  if (price.type !== 'USAGE') return refuse('bucket_on_fixed', 'is for USAGE prices only');
  if (references.meter === null) return;
  const { type, bucket_size } = references.meter.aggregation;
  if (type !== 'MAX' && type !== 'SUM') {
    refuse('bucket_aggregation', `needs a meter with MAX or SUM, this one has ${type}`);
  }
  if (bucket_size !== null) {
    refuse('bucket_on_meter_and_price', `cannot be set: the meter has bucket size ${bucket_size}`);
  }
}

/** Ten years, the same maximum as for the trial of a subscription. */
const TRIAL_DAYS_MAX = 3650;

function checkQuantityAndTrial(price: PriceDefinition, found: Problems): void {
  const minimum = price.min_quantity ?? null;
  if (minimum !== null) {
    if (!Number.isSafeInteger(minimum) || minimum < 0) {
      found.add('min_quantity', 'invalid_min_quantity', 'must be an integer of at least 0');
    }
    if (price.type === 'USAGE') {
      found.add('min_quantity', 'min_quantity_on_usage', 'is for FIXED prices only');
    }
  }
  const days = trialDays(price);
  if (days === null) return;
  const path = isGiven(price.trial_period) ? 'trial_period' : 'trial_period_days';
  if (isGiven(price.trial_period_days) && price.trial_period_days !== days) {
    found.add('trial_period_days', 'trial_period_twice', `trial_period says ${days}`);
  }
  if (!Number.isInteger(days) || days < 0 || days > TRIAL_DAYS_MAX) {
    found.add(path, 'invalid_trial_period', `must be an integer of 0 to ${TRIAL_DAYS_MAX} days`);
  } else if (days > 0 && (price.type !== 'FIXED' || price.billing_period === 'ONETIME')) {
    found.add(path, 'trial_without_recurring_fee', 'is for recurring FIXED prices only');
  }
}

/** Trial days from either of the two field names. Null when neither is sent. */
export function trialDays(
  price: Pick<PriceDefinition, 'trial_period' | 'trial_period_days'>,
): number | null {
  return price.trial_period ?? price.trial_period_days ?? null;
}

function checkDates(price: PriceDefinition, found: Problems): void {
  if (!isGiven(price.start_date) || !isGiven(price.end_date)) return;
  if (epochMs(price.start_date) >= epochMs(price.end_date)) {
    found.add('end_date', 'end_before_start', 'must be after start_date');
  }
}

function checkAmount(input: string | number, path: string, found: Problems): Decimal | null {
  const amount = readDecimal(input, path, found);
  if (amount?.lt(0)) found.add(path, 'negative_amount', 'must not be negative');
  return amount;
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const isGiven = <Value>(value: Value | null | undefined): value is Value =>
  value !== null && value !== undefined;

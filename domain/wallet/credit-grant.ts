import {
  CREDIT_GRANT_CADENCES,
  CREDIT_GRANT_EXPIRATION_TYPES,
  CREDIT_GRANT_EXPIRATION_UNITS,
  CREDIT_GRANT_PERIODS,
  CREDIT_GRANT_SCOPES,
} from '../../schemas/words.ts';
import { BillingError, invalidField } from '../errors.ts';
import { decimal, type Decimal } from '../money.ts';
import { epochMs } from '../time/instant.ts';

export type GrantScope = (typeof CREDIT_GRANT_SCOPES)[number];

export type GrantCadence = (typeof CREDIT_GRANT_CADENCES)[number];

export type GrantPeriod = (typeof CREDIT_GRANT_PERIODS)[number];

export type ExpirationType = (typeof CREDIT_GRANT_EXPIRATION_TYPES)[number];

export type ExpirationUnit = (typeof CREDIT_GRANT_EXPIRATION_UNITS)[number];

/** A grant of credits; decimals as text (money 5.1). */
export interface CreditGrant {
  readonly scope: GrantScope;
  readonly credits: string;
  readonly cadence: GrantCadence;
  readonly period: GrantPeriod | null;
  readonly period_count: number | null;
  readonly expiration_type: ExpirationType;
  readonly expiration_duration: number | null;
  readonly expiration_duration_unit: ExpirationUnit | null;
  readonly priority: number | null;
  readonly conversion_rate: string | null;
  readonly topup_conversion_rate: string | null;
  /** Only with scope SUBSCRIPTION: other grants are templates. */
  readonly start_date: string | null;
  readonly end_date: string | null;
  readonly credit_grant_anchor: string | null;
}

/**
 * Refuses a grant with contradicting fields, naming the field (money 5.1). `within` holds the dates
 * of the subscription that runs the grant; null for a template.
 */
export function validateGrant(
  grant: CreditGrant,
  within: { readonly start_date: string; readonly end_date: string | null } | null,
): void {
  if (decimal(grant.credits).lte(0)) throw invalidField('credits', 'must be above 0');
  validateCadence(grant);
  validateExpiration(grant);
  validateDuration(grant);
  if (grant.priority !== null && !(Number.isInteger(grant.priority) && grant.priority >= 0)) {
    throw invalidField('priority', 'must be a whole number, 0 or more');
  }
  for (const path of ['conversion_rate', 'topup_conversion_rate'] as const) {
    const rate = grant[path];
    if (rate !== null && decimal(rate).lte(0)) throw invalidField(path, 'must be above 0');
  }
  if (grant.scope === 'SUBSCRIPTION') validateDates(grant, within);
  else validateTemplate(grant);
}

/**
 * Requires that all grants of one plan, addon or request have the same rates; absent rates count too
 * (money 5.1.4).
 */
export function assertSameRates(
  grants: readonly Pick<CreditGrant, 'conversion_rate' | 'topup_conversion_rate'>[],
): void {
  for (const path of ['conversion_rate', 'topup_conversion_rate'] as const) {
    const rates = grants.map((grant) => {
      const rate = grant[path];
      return rate === null ? null : decimal(rate);
    });
    const [first] = rates;
    if (rates.some((rate) => !sameRate(rate, first ?? null))) {
      throw invalidField(`credit_grants.${path}`, 'must be the same on every grant');
    }
  }
}

/**
 * Refuses grants that the customer's active PRE_PAID wallet in the currency cannot take, because its rates
 * differ (money 5.1.5). A grant without a rate matches every wallet.
 */
export function assertWalletAccepts(
  wallet: { readonly conversion_rate: string; readonly topup_conversion_rate: string } | null,
  grant: Pick<CreditGrant, 'conversion_rate' | 'topup_conversion_rate'>,
): void {
  if (wallet === null) return;
  for (const path of ['conversion_rate', 'topup_conversion_rate'] as const) {
    const rate = grant[path];
    if (rate === null || decimal(rate).eq(decimal(wallet[path]))) continue;
    const message = `The customer's wallet has the ${path} ${wallet[path]}, the grant ${rate}.`;
    throw new BillingError('invalid', 'validation_error', message, [
      { path: `credit_grants.${path}`, code: 'rate_mismatch', message },
    ]);
  }
}

/** The same limit as for a subscription's billing period. */
const PERIOD_COUNT_MAX = 1200;

function validateCadence(grant: CreditGrant): void {
  if (grant.cadence === 'ONETIME') {
    if (grant.period !== null) throw invalidField('period', 'is for recurring grants');
    if (grant.period_count !== null) throw invalidField('period_count', 'is for recurring grants');
    return;
  }
  if (grant.period === null || !CREDIT_GRANT_PERIODS.includes(grant.period)) {
    throw invalidField('period', `must be one of ${CREDIT_GRANT_PERIODS.join(', ')}`);
  }
  if (!isCount(grant.period_count) || grant.period_count! > PERIOD_COUNT_MAX)
    throw invalidField('period_count', `must be between 1 and ${PERIOD_COUNT_MAX}`);
}

/** Also checked wherever a grant's expiry is computed. */
export function validateExpiration(
  grant: Pick<CreditGrant, 'expiration_type' | 'expiration_duration' | 'expiration_duration_unit'>,
): void {
  const { expiration_duration: duration, expiration_duration_unit: unit } = grant;
  if (grant.expiration_type === 'DURATION') {
    if (!isCount(duration)) throw invalidField('expiration_duration', 'must be at least 1');
    if (unit === null || !CREDIT_GRANT_EXPIRATION_UNITS.includes(unit)) {
      throw invalidField(
        'expiration_duration_unit',
        `must be one of ${CREDIT_GRANT_EXPIRATION_UNITS.join(', ')}`,
      );
    }
    return;
  }
  if (duration !== null) throw invalidField('expiration_duration', 'is for the type DURATION');
  if (unit !== null) throw invalidField('expiration_duration_unit', 'is for the type DURATION');
}

/** A hundred years in each unit. */
const DURATION_MAX = { DAY: 36_525, WEEK: 5_218, MONTH: 1_200, YEAR: 100 } as const;

/** Later expiries could lie beyond the calendar (money 5.1.3). */
function validateDuration({ expiration_duration, expiration_duration_unit }: CreditGrant): void {
  if (expiration_duration === null || expiration_duration_unit === null) return;
  const most = DURATION_MAX[expiration_duration_unit];
  if (expiration_duration > most)
    throw invalidField('expiration_duration', `must be at most ${most}, a hundred years`);
}

function validateTemplate(grant: CreditGrant): void {
  for (const path of ['start_date', 'end_date', 'credit_grant_anchor'] as const) {
    if (grant[path] !== null) throw invalidField(path, 'is for grants of scope SUBSCRIPTION');
  }
}

function validateDates(
  grant: CreditGrant,
  within: { readonly start_date: string; readonly end_date: string | null } | null,
): void {
  if (grant.start_date === null) {
    throw invalidField('start_date', 'is required with the scope SUBSCRIPTION');
  }
  const start = epochMs(grant.start_date);
  const last = within?.end_date == null ? Number.POSITIVE_INFINITY : epochMs(within.end_date);
  if (within !== null && start < epochMs(within.start_date)) {
    throw invalidField('start_date', 'must not be before the subscription starts');
  }
  if (grant.end_date !== null) {
    const end = epochMs(grant.end_date);
    if (end <= start) throw invalidField('end_date', 'must be after start_date');
    if (end > last) throw invalidField('end_date', 'must not be after the subscription ends');
  }
  if (grant.credit_grant_anchor !== null) {
    const anchor = epochMs(grant.credit_grant_anchor);
    if (anchor < start || anchor > last) {
      throw invalidField('credit_grant_anchor', 'must be between the start and the end');
    }
  }
}

const isCount = (value: number | null): boolean =>
  value !== null && Number.isInteger(value) && value >= 1;

const sameRate = (left: Decimal | null, right: Decimal | null): boolean =>
  left === null || right === null ? left === right : left.eq(right);

import type { CreditGrant, SubscriptionGrantRequest } from '../../../schemas/credit-grant.ts';

/**
 * Amount and schedule of a grant from the request. Fields of another cadence or expiry are dropped; a recurring
 * grant without a count recurs in every period (money 5.1.2), a grant without an expiration type never expires
 * (money 5.1.3).
 */
export function grantTerms(body: Omit<SubscriptionGrantRequest, 'scope'>) {
  const isRecurring = body.cadence === 'RECURRING';
  const isForATime = body.expiration_type === 'DURATION';
  return {
    name: body.name,
    credits: body.credits,
    conversion_rate: body.conversion_rate ?? null,
    topup_conversion_rate: body.topup_conversion_rate ?? null,
    cadence: body.cadence,
    period: isRecurring ? (body.period ?? null) : null,
    period_count: isRecurring ? (body.period_count ?? 1) : null,
    expiration_type: body.expiration_type ?? 'NEVER',
    expiration_duration: isForATime ? (body.expiration_duration ?? null) : null,
    expiration_duration_unit: isForATime ? (body.expiration_duration_unit ?? null) : null,
    priority: body.priority ?? null,
    credit_grant_anchor: body.credit_grant_anchor ?? null,
    start_date: body.start_date ?? null,
    end_date: body.end_date ?? null,
    metadata: body.metadata ?? {},
  } satisfies Partial<CreditGrant>;
}

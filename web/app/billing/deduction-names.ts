import type { ApiRecord } from '../../client/api.ts';

/** By id: names of the coupons on the invoice, as they were when applied, and of its tax rates. */
export const deductionNames = ({
  coupon_applications,
  taxes,
}: Pick<ApiRecord<'Invoice'>, 'coupon_applications' | 'taxes'>): ReadonlyMap<string, string> =>
  new Map([
    ...(coupon_applications ?? []).map(({ coupon_id, coupon_snapshot }): [string, string] => [
      coupon_id,
      String((coupon_snapshot as { name?: unknown })['name'] ?? coupon_id),
    ]),
    ...(taxes ?? []).map(({ tax_rate_id, tax_rate }): [string, string] => [
      tax_rate_id,
      tax_rate?.name ?? tax_rate_id,
    ]),
  ]);

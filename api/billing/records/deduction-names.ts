import type { Db, Scope } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import { findTaxRates } from '../../catalog/taxes/repository.ts';

/** By id: names of the coupons on the invoice, as they were when applied, and of its tax rates. */
export async function deductionNames(
  db: Db,
  scope: Scope,
  { coupon_applications, taxes }: Pick<InvoiceRecord, 'coupon_applications' | 'taxes'>,
): Promise<ReadonlyMap<string, string>> {
  const rates = await findTaxRates(
    db,
    scope,
    taxes.map(({ tax_rate_id }) => tax_rate_id),
  );
  const coupons = coupon_applications.map(({ coupon_id, coupon_snapshot }): [string, string] => [
    coupon_id,
    String(coupon_snapshot['name'] ?? coupon_id),
  ]);
  return new Map([...coupons, ...rates.map(({ id, name }): [string, string] => [id, name])]);
}

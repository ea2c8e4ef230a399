import { roundToCurrency } from '../../../domain/currency.ts';
import { decimalText, sum, ZERO, type Decimal } from '../../../domain/money.ts';
import { chargeModel } from '../../../domain/pricing/price.ts';
import {
  monthlyRevenue,
  type RecurringContract,
} from '../../../domain/subscription/recurring-revenue.ts';
import type { Instant } from '../../../domain/time/instant.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { DashboardSummary, DashboardSummaryBody } from '../../../schemas/dashboard.ts';
import { findCouponAssociationsOf } from '../../catalog/coupons/repository.ts';
import { findPrices, type PriceRow } from '../../catalog/prices/repository.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { currencyByCode } from '../../tenancy/settings/custom-currencies.ts';
import { attachedCoupons } from '../computing/coupon-applications.ts';
import {
  discountedFees,
  issuedFigures,
  openFigures,
  paymentFigures,
  undiscountedFees,
  type Fee,
  type Figures,
} from './summary-repository.ts';

/** The figures of the home page by currency; amounts in different currencies are never added. */
export async function dashboardSummary(
  db: Db,
  scope: Scope,
  body: DashboardSummaryBody,
  at: Instant,
): Promise<DashboardSummary> {
  const range = { start: body.start_time ?? null, end: body.end_time ?? null };
  const [issued, open, payments, contracts] = await Promise.all([
    issuedFigures(db, scope, range),
    openFigures(db, scope, body.open_of === 'all' ? null : range, at),
    paymentFigures(db, scope, range),
    monthlyRevenues(db, scope, at),
  ]);
  const rows = [...issued, ...open, ...payments];
  const found = new Map(rows.map(({ currency }) => [currency, {} as Figures]));
  for (const { currency, ...figures } of rows) Object.assign(found.get(currency)!, figures);
  const codes = [...new Set([...found.keys(), ...contracts.keys()])].sort();
  return {
    at,
    start_time: range.start,
    end_time: range.end,
    currencies: codes.map((currency) => ({
      currency,
      mrr: contracts.get(currency) ?? '0',
      ...NOTHING,
      ...found.get(currency),
    })),
  };
}

const NOTHING: Figures = {
  invoiced_amount: '0',
  invoiced_count: 0,
  open_amount: '0',
  open_count: 0,
  overdue_amount: '0',
  overdue_count: 0,
  collected_amount: '0',
  collected_count: 0,
};

/**
 * Monthly recurring revenue by currency. Subscriptions without coupons are added up by price and quantity in
 * the database: there are few such groups, however many subscriptions there are.
 */
async function monthlyRevenues(
  db: Db,
  scope: Scope,
  at: Instant,
): Promise<ReadonlyMap<string, string>> {
  const [groups, lines] = await Promise.all([
    undiscountedFees(db, scope, at),
    discountedFees(db, scope, at),
  ]);
  const ids = [...new Set([...groups, ...lines].map(({ price_id }) => price_id))];
  const bySubscription = groupBy(lines, ({ subscription_id }) => subscription_id);
  const [prices, coupons] = await Promise.all([
    findPrices(db, scope, ids),
    findCouponAssociationsOf(db, scope, [...bySubscription.keys()]),
  ]);
  const priceOf = new Map(prices.map((price) => [price.id, price]));
  const couponsOf = groupBy(coupons, ({ subscription_id }) => subscription_id);
  const contracts: [code: string, RecurringContract, times: number][] = [
    ...groups.map((row): [string, RecurringContract, number] => [
      row.currency,
      contractOf('', [{ ...row, id: '' }], priceOf, []),
      row.times,
    ]),
    ...[...bySubscription].map(([id, rows]): [string, RecurringContract, number] => [
      rows[0]!.currency,
      contractOf(id, rows, priceOf, attachedCoupons({ coupons: couponsOf }, id)),
      1,
    ]),
  ];
  const byCurrency = groupBy(contracts, ([code]) => code);
  const totals = [...byCurrency].map(async ([code, found]): Promise<[string, string]> => {
    const currency = await currencyByCode(db, scope, code);
    const amounts = found.map(([, contract, times]): Decimal =>
      monthlyRevenue({ ...contract, currency }, at).times(times),
    );
    return [code, decimalText(roundToCurrency(sum([ZERO, ...amounts]), currency))];
  });
  return new Map(await Promise.all(totals));
}

function contractOf(
  subscription_id: string,
  rows: readonly (Fee & { readonly id: string })[],
  prices: ReadonlyMap<string, PriceRow>,
  coupons: RecurringContract['coupons'],
): RecurringContract {
  const { currency, billing_period, billing_period_count } = rows[0]!;
  return {
    subscription_id,
    currency,
    coupons,
    cadence: { billing_period, billing_period_count },
    fees: rows.map((row) => ({
      subscription_line_item_id: row.id,
      model: chargeModel(prices.get(row.price_id)!),
      quantity: row.quantity,
      cadence: {
        billing_period: row.line_billing_period,
        billing_period_count: row.line_billing_period_count,
      },
    })),
  };
}

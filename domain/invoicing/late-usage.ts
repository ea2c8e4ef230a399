import { decimal, Decimal, sum, ZERO } from '../money.ts';
import { netAmount, type DiscountedAmount } from '../pricing/net-amount.ts';
import type { LineKind } from '../pricing/rated-line.ts';

/** The service that a row bills: computations of the same invoice have the same services. */
export interface BilledRow {
  readonly subscription_id: string | null;
  readonly subscription_line_item_id: string | null;
  readonly kind: LineKind;
  readonly period_start: string | null;
  readonly period_end: string | null;
  readonly display_name: string | null;
}

/** A row of an invoice with its discounts, decimal text. */
export interface DiscountedRow extends BilledRow, DiscountedAmount {
  readonly id: string;
}

/** Money of a row that an earlier settlement has charged; negative if it has credited it. */
export interface SettledShare extends BilledRow {
  readonly amount: string;
}

/** How late usage changes one row of a final invoice. Amounts are after discounts and before tax. */
export interface LateRow extends BilledRow {
  /** The row of the invoice; null if only late usage makes the row appear. */
  readonly line_item_id: string | null;
  readonly difference: Decimal;
  readonly settled: Decimal;
  /** What a settlement would charge; negative: credit. */
  readonly outstanding: Decimal;
}

/**
 * The rows whose amounts late usage changes: the difference between two computations of the same invoice, one
 * of the billed usage and one of the usage of today (billing 17.6). Everything else is equal in both, so
 * that only usage makes a difference. A row that a person has removed from the invoice has no difference.
 * Rows that were settled before are included, also when their difference is gone.
 */
export function lateRows(
  {
    billed,
    now,
  }: { readonly billed: readonly DiscountedRow[]; readonly now: readonly DiscountedRow[] },
  invoiceRows: readonly DiscountedRow[],
  settled: readonly SettledShare[],
): LateRow[] {
  const standing = byService(invoiceRows);
  const before = byService(billed);
  const after = byService(now);
  const shares = byService(settled);
  const services = new Map<string, BilledRow>(
    [...billed, ...now, ...settled].map((row) => [serviceOf(row), row]),
  );
  return [...services].flatMap(([service, row]) => {
    const isRemoved = before.has(service) && !standing.has(service);
    const difference = isRemoved
      ? ZERO
      : netOf(after.get(service)).minus(netOf(before.get(service)));
    const share = sum((shares.get(service) ?? []).map(({ amount }) => decimal(amount)));
    if (difference.isZero() && share.isZero()) return [];
    return [
      {
        subscription_id: row.subscription_id,
        subscription_line_item_id: row.subscription_line_item_id,
        kind: row.kind,
        period_start: row.period_start,
        period_end: row.period_end,
        display_name: row.display_name,
        line_item_id: standing.get(service)?.[0]?.id ?? null,
        difference,
        settled: share,
        outstanding: difference.minus(share),
      },
    ];
  });
}

/** The rows that a settlement of this kind takes: an invoice charges, a credit note credits. */
export const rowsToSettle = (
  rows: readonly LateRow[],
  as: 'invoice' | 'credit_note',
): readonly LateRow[] =>
  rows.filter(({ outstanding }) => (as === 'invoice' ? outstanding.gt(0) : outstanding.lt(0)));

function byService<Row extends BilledRow>(
  rows: readonly Row[],
): ReadonlyMap<string, readonly Row[]> {
  const found = new Map<string, Row[]>();
  for (const row of rows) {
    const service = serviceOf(row);
    found.set(service, [...(found.get(service) ?? []), row]);
  }
  return found;
}

const serviceOf = (row: BilledRow): string =>
  JSON.stringify([row.subscription_id, row.subscription_line_item_id, row.kind, row.period_start]);

const netOf = (rows: readonly DiscountedRow[] = []): Decimal => sum(rows.map(netAmount));

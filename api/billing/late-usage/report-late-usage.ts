import type { z } from 'zod';
import { BillingError } from '../../../domain/errors.ts';
import type { LateRow } from '../../../domain/invoicing/late-usage.ts';
import { decimalText, sum } from '../../../domain/money.ts';
import type { InvoiceRecord, UsageCheck } from '../../../schemas/invoice.ts';
import type { LateUsage, LateUsageLine } from '../../../schemas/late-usage.ts';
import type { Page } from '../../../schemas/search.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { checkUsageOf } from '../invoices/check-usage.ts';
import { readStoredWatermarks } from '../computing/stored-watermarks.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import {
  lateUsageSettlements,
  searchSettleableInvoices,
  type LateUsageFilter,
  type LateUsageSettlementRecord,
} from '../records/late-usage-repository.ts';
import { getSubscription } from '../records/subscription-repository.ts';
import { compareLateUsage } from './compare-late-usage.ts';

type UsageChecked = z.infer<typeof UsageCheck>;
type UsageLines = UsageChecked['lines'];

/**
 * Final invoices whose usage differs today from what was billed, with the difference in money (billing 17.6).
 * Compares one page of final invoices and returns those that differ; the total counts the compared invoices.
 * Changes nothing.
 */
export async function reportLateUsage(
  deps: BillingDeps,
  caller: Caller,
  filter: LateUsageFilter,
): Promise<Page<LateUsage>> {
  const { scope } = caller;
  const page = await searchSettleableInvoices(deps.pool, scope, filter);
  const ids = page.items.map(({ id }) => id);
  const settlements = await lateUsageSettlements(deps.pool, scope, ids);
  const checks = await checkUsageOf(deps, scope, page.items);
  const items: LateUsage[] = [];
  for (const invoice of page.items) {
    const ofInvoice = settlements.filter(({ invoice_id }) => invoice_id === invoice.id);
    const late = await lateUsageOf(deps, caller, invoice, checks.get(invoice.id)!, ofInvoice);
    if (late === null) continue;
    const isSettled =
      ofInvoice.length > 0 && late.lines.every((line) => line.outstanding_amount === '0');
    if (!isSettled || filter.include_settled === true) items.push(late);
  }
  return { ...page, items };
}

/** Null if every query of the invoice returns what was billed, and nothing was settled. */
async function lateUsageOf(
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
  usage: UsageChecked,
  settlements: readonly LateUsageSettlementRecord[],
): Promise<LateUsage | null> {
  const { pool } = deps;
  const differs = usage.lines.some(({ difference }) => difference !== '0');
  if (usage.now === null || (!differs && settlements.length === 0)) return null;
  const rated = await attempt(async () =>
    compareLateUsage(
      deps,
      caller,
      {
        invoice,
        subscription: await getSubscription(pool, caller.scope, invoice.subscription_id!),
        lines: await linesOfInvoices(pool, caller.scope, [invoice.id]),
      },
      readStoredWatermarks(usage.now!),
      settlements.flatMap(({ shares }) => shares),
    ),
  );
  const rows = rated.rows;
  return {
    invoice_id: invoice.id,
    invoice_number: invoice.invoice_number,
    invoice_status: invoice.invoice_status,
    customer_id: invoice.customer_id,
    subscription_id: invoice.subscription_id,
    currency: invoice.currency,
    period_start: invoice.period_start,
    period_end: invoice.period_end,
    finalized_at: invoice.finalized_at,
    lines: [...rows.map((row) => ratedLine(row, usage.lines)), ...freeLines(rows, usage.lines)],
    amount_difference: decimalText(sum(rows.map(({ difference }) => difference))),
    settled_amount: decimalText(sum(rows.map(({ settled }) => settled))),
    outstanding_amount: decimalText(sum(rows.map(({ outstanding }) => outstanding))),
    refusal: rated.refusal,
  };
}

/** An invoice that cannot be rated again must not hide the others of the report. */
async function attempt(
  work: () => Promise<LateRow[]>,
): Promise<{ readonly rows: readonly LateRow[]; readonly refusal: string | null }> {
  try {
    return { rows: await work(), refusal: null };
  } catch (error) {
    if (!(error instanceof BillingError) || error.kind === 'unavailable') throw error;
    return { rows: [], refusal: error.message };
  }
}

const ratedLine = (row: LateRow, usage: UsageLines): LateUsageLine => {
  const measured = usage.find(({ line_item_id }) => line_item_id === row.line_item_id);
  return {
    line_item_id: row.line_item_id,
    subscription_line_item_id: row.subscription_line_item_id,
    kind: row.kind,
    display_name: row.display_name,
    period_start: row.period_start,
    period_end: row.period_end,
    billed_usage: measured?.billed_usage ?? null,
    usage_now: measured?.usage_now ?? null,
    usage_difference: measured?.difference ?? null,
    amount_difference: decimalText(row.difference),
    settled_amount: decimalText(row.settled),
    outstanding_amount: decimalText(row.outstanding),
  };
};

/** Rows whose usage differs and whose amount does not, for example within an allowance. */
const freeLines = (rows: readonly LateRow[], usage: UsageLines): LateUsageLine[] =>
  usage
    .filter(({ difference }) => difference !== '0')
    .filter((line) => !rows.some((row) => row.line_item_id === line.line_item_id))
    .map((line) => ({
      line_item_id: line.line_item_id,
      subscription_line_item_id: null,
      kind: 'base',
      display_name: line.display_name,
      period_start: line.period_start,
      period_end: line.period_end,
      billed_usage: line.billed_usage,
      usage_now: line.usage_now,
      usage_difference: line.difference,
      amount_difference: '0',
      settled_amount: '0',
      outstanding_amount: '0',
    }));

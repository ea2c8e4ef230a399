import type { z } from 'zod';
import { decimal, decimalText, sum } from '../../../domain/money.ts';
import type { UsageAnswers, UsageQuery } from '../../../domain/metering/usage.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { InvoiceLineRecord, UsageCheck } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import { getInvoice } from '../records/invoice-repository.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { readStoredWatermarks, storeWatermarks } from '../computing/stored-watermarks.ts';

/**
 * Repeats the usage queries of an invoice twice. Below the watermark vector of the computation they return
 * the billed quantities as long as the rows exist (metering 5). Up to now they include late events. Changes
 * nothing: a person decides about a difference (billing 17.6).
 */
export async function checkUsage(
  deps: Pick<BillingDeps, 'pool' | 'usageReader'>,
  scope: Scope,
  invoiceId: string,
): Promise<z.infer<typeof UsageCheck>> {
  const invoice = await getInvoice(deps.pool, scope, invoiceId);
  const lines = await linesOfInvoices(deps.pool, scope, [invoiceId]);
  const asked = lines.filter(({ usage_queries }) => usage_queries.length > 0);
  if (invoice.usage_watermarks === null || asked.length === 0)
    return { invoice_id: invoiceId, snapshot: null, now: null, lines: [] };

  const queries = asked.flatMap(queriesOf);
  const at = readStoredWatermarks(invoice.usage_watermarks);
  const [billed, now] = [
    await deps.usageReader.read(queries, { at }),
    await deps.usageReader.read(queries, 'watermark'),
  ];
  return {
    invoice_id: invoiceId,
    snapshot: invoice.usage_watermarks,
    now: storeWatermarks(now.watermarks),
    lines: asked.map((line) => {
      const then = measured(line, billed);
      const today = measured(line, now);
      return {
        line_item_id: line.id,
        display_name: line.display_name,
        period_start: line.period_start,
        period_end: line.period_end,
        billed_usage: decimalText(then),
        usage_now: decimalText(today),
        difference: decimalText(today.minus(then)),
      };
    }),
  };
}

const queriesOf = (line: InvoiceLineRecord) => line.usage_queries as readonly UsageQuery[];

/** For a windowed question, the sum over its windows, as on the row (billing 2.4). */
const measured = (line: InvoiceLineRecord, { answers }: UsageAnswers) =>
  sum(
    queriesOf(line).flatMap(({ key }) =>
      answers.get(key)!.rows.map(({ quantity }) => decimal(quantity)),
    ),
  );

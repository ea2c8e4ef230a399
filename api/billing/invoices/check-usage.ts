import type { z } from 'zod';
import { decimal, decimalText, sum } from '../../../domain/money.ts';
import type { UsageAnswers, UsageQuery } from '../../../domain/metering/usage.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { InvoiceLineRecord, InvoiceRecord, UsageCheck } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { inParts } from '../../conventions/in-parts.ts';
import { getInvoice } from '../records/invoice-repository.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { readStoredWatermarks, storeWatermarks } from '../computing/stored-watermarks.ts';

type Check = z.infer<typeof UsageCheck>;
type Checked = Pick<InvoiceRecord, 'id' | 'usage_watermarks'>;
type Deps = Pick<BillingDeps, 'pool' | 'usageReader'>;

/** Invoices whose usage is read by one question. */
const READ_TOGETHER = 100;

/**
 * Repeats the usage queries of an invoice twice. Below the watermark vector of the computation they return
 * the billed quantities as long as the rows exist (metering 5). Up to now they include late events. Changes
 * nothing: a person decides about a difference (billing 17.6).
 */
export async function checkUsage(deps: Deps, scope: Scope, invoiceId: string): Promise<Check> {
  const invoice = await getInvoice(deps.pool, scope, invoiceId);
  return (await checkUsageOf(deps, scope, [invoice])).get(invoiceId)!;
}

/**
 * The same for several invoices, by id: one question up to now, and one for each vector that they were computed at.
 * If their usage is too much for one question, parts of the invoices are read.
 */
export async function checkUsageOf(
  deps: Deps,
  scope: Scope,
  invoices: readonly Checked[],
): Promise<ReadonlyMap<string, Check>> {
  const checks = new Map<string, Check>();
  for (let from = 0; from < invoices.length; from += READ_TOGETHER) {
    const some = invoices.slice(from, from + READ_TOGETHER);
    const { results, failed } = await inParts(some, (part) => checksOf(deps, scope, part));
    if (failed.length > 0) throw failed[0]!.error;
    for (const check of results.flat()) checks.set(check.invoice_id, check);
  }
  return checks;
}

async function checksOf(
  { pool, usageReader }: Deps,
  scope: Scope,
  invoices: readonly Checked[],
): Promise<Check[]> {
  const ids = invoices.map(({ id }) => id);
  const lines = (await linesOfInvoices(pool, scope, ids)).filter(
    ({ usage_queries }) => usage_queries.length > 0,
  );
  const linesOf = groupBy(lines, ({ invoice_id }) => invoice_id);
  const asked = invoices.filter(({ id, usage_watermarks }) => usage_watermarks !== null && linesOf.has(id)); // prettier-ignore
  const queries = (of: readonly Checked[]) => of.flatMap(({ id }) => linesOf.get(id)!.flatMap(queriesOf)); // prettier-ignore
  const billed = new Map<string, UsageAnswers>();
  const byVector = groupBy(asked, ({ usage_watermarks }) => JSON.stringify(usage_watermarks));
  for (const together of byVector.values()) {
    const at = readStoredWatermarks(together[0]!.usage_watermarks!);
    const answers = await usageReader.read(queries(together), { at });
    for (const { id } of together) billed.set(id, answers);
  }
  const now = asked.length === 0 ? null : await usageReader.read(queries(asked), 'watermark');
  return invoices.map(({ id, usage_watermarks }) => {
    const then = billed.get(id);
    if (then === undefined || now === null)
      return { invoice_id: id, snapshot: null, now: null, lines: [] };
    return {
      invoice_id: id,
      snapshot: usage_watermarks,
      now: storeWatermarks(now.watermarks),
      lines: linesOf.get(id)!.map((line) => checkedLine(line, then, now)),
    };
  });
}

function checkedLine(
  line: InvoiceLineRecord,
  billed: UsageAnswers,
  now: UsageAnswers,
): Check['lines'][number] {
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
}

/** Keys of questions are unique within one row only. */
const queriesOf = (line: InvoiceLineRecord): UsageQuery[] =>
  (line.usage_queries as readonly UsageQuery[]).map((query) => ({
    ...query,
    key: `${line.id} ${query.key}`,
  }));

/** For a windowed question, the sum over its windows, as on the row (billing 2.4). */
const measured = (line: InvoiceLineRecord, { answers }: UsageAnswers) =>
  sum(
    queriesOf(line).flatMap(({ key }) =>
      answers.get(key)!.rows.map(({ quantity }) => decimal(quantity)),
    ),
  );

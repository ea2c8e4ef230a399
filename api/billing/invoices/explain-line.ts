import type { z } from 'zod';
import { notFound } from '../../../domain/errors.ts';
import { explainText } from '../../../domain/pricing/explain-text.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { LineExplanation } from '../../../schemas/invoice.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import { deductionNames } from '../records/deduction-names.ts';
import { usageSnapshot } from './answers.ts';
import { getInvoice } from '../records/invoice-repository.ts';
import { getInvoiceLine } from '../records/invoice-line-repository.ts';

/** The explanation that is stored with the row. Computes nothing. */
export async function explainLine(
  db: Db,
  scope: Scope,
  invoiceId: string,
  lineId: string,
): Promise<z.infer<typeof LineExplanation>> {
  const invoice = await getInvoice(db, scope, invoiceId);
  const line = await getInvoiceLine(db, scope, invoiceId, lineId);
  return {
    invoice_id: invoiceId,
    line_item_id: lineId,
    explanation: line.explanation,
    usage_queries: [...line.usage_queries],
    allowance_queries: [...line.allowance_queries],
    usage_snapshot: line.usage_queries.length === 0 ? null : usageSnapshot(invoice),
  };
}

/** The stored explanation as text, with dates in the customer's zone and names of coupons and taxes. */
export async function explainLineAsText(
  db: Db,
  scope: Scope,
  invoiceId: string,
  lineId: string,
): Promise<string> {
  const line = await getInvoiceLine(db, scope, invoiceId, lineId);
  if (line.explanation === null) throw notFound('Explanation of row', lineId);
  const invoice = await getInvoice(db, scope, invoiceId);
  const { timezone } = await getCustomer(db, scope, invoice.customer_id);
  const names = await deductionNames(db, scope, invoice);
  return `${line.display_name ?? 'Row'}\n${explainText(line.explanation, { timezone, names })}`;
}

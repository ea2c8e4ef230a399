import { allows } from '../../../domain/access/permissions.ts';
import { BillingError } from '../../../domain/errors.ts';
import type { Identity } from '../../../platform/identity/identity.ts';
import {
  LateUsage,
  LateUsageSearch,
  LateUsageSettlement,
  PreviewLateUsageBody,
  SettleLateUsageBody,
} from '../../../schemas/late-usage.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { oncePerBodyKey } from '../../conventions/body-key.ts';
import { route } from '../../conventions/route.ts';
import { creditNoteAnswers } from '../credit-notes/answers.ts';
import { invoiceAnswers } from '../invoices/answers.ts';
import { findCreditNotes } from '../records/credit-note-repository.ts';
import { findInvoices } from '../records/invoice-repository.ts';
import { reportLateUsage } from './report-late-usage.ts';
import { previewLateUsage, settleLateUsage, type SettledLateUsage } from './settle-late-usage.ts';

/** A credit note needs the permission of credit notes as well. */
function assertMaySettle({ permissions }: Identity, as: SettleLateUsageBody['as']): void {
  if (as === 'invoice' || allows(permissions, 'creditnote:write')) return;
  throw new BillingError(
    'forbidden',
    'permission_denied',
    'A credit note needs the permission creditnote:write.',
  );
}

/** The document of a settlement as the API answers it. */
async function documentsOf(db: Db, scope: Scope, { document_id, amount }: SettledLateUsage) {
  const ids = [document_id];
  const invoices = await findInvoices(db, scope, ids);
  const embed = { line_items: true, customer: true };
  const [invoice] = await invoiceAnswers(db, scope, invoices, embed);
  const notes = await findCreditNotes(db, scope, ids);
  const [credit_note] = await creditNoteAnswers(db, scope, notes, {});
  return { amount, invoice: invoice ?? null, credit_note: credit_note ?? null };
}

export const lateUsageRoutes = [
  route({
    method: 'POST',
    path: '/invoices/late-usage/search',
    summary: 'Find final invoices whose usage has changed since they were billed',
    permission: 'invoice:read',
    body: LateUsageSearch.body,
    status: 200,
    answer: pageOf(LateUsage),
    handler: (call) => reportLateUsage(call.deps, call, call.body),
  }),
  route({
    method: 'POST',
    path: '/invoices/{id}/late-usage/preview',
    summary: 'Show the document that settles late usage, without issuing it',
    permission: 'invoice:read',
    ownsTransactions: true,
    params: IdParams,
    body: PreviewLateUsageBody,
    status: 200,
    answer: LateUsageSettlement,
    handler: ({ deps, params, body, ...call }) =>
      previewLateUsage(deps, call, params.id, body, async (tx, settled) => {
        const { invoice, credit_note, amount } = await documentsOf(tx, call.scope, settled);
        return {
          invoice_id: params.id,
          as: body.as,
          amount,
          invoice: invoice && { ...invoice, invoice_number: null },
          credit_note: credit_note && { ...credit_note, credit_note_number: '' },
        };
      }),
  }),
  route({
    method: 'POST',
    path: '/invoices/{id}/late-usage/settle',
    summary: 'Charge late usage with a one-off invoice, or credit it with a credit note',
    permission: 'invoice:write',
    ownsTransactions: true,
    params: IdParams,
    body: SettleLateUsageBody,
    status: 201,
    answer: LateUsageSettlement,
    handler(call) {
      const { scope, params, body } = call;
      assertMaySettle(call.identity, body.as);
      const once = { ...body, invoice_id: params.id };
      return oncePerBodyKey(call.deps, call, 'late_usage', once, async (deps) => {
        const settled = await settleLateUsage(deps, call, params.id, body);
        const documents = await documentsOf(deps.pool, scope, settled);
        return { invoice_id: params.id, as: body.as, ...documents };
      });
    },
  }),
];

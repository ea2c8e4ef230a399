import { z } from 'zod';
import {
  CreateInvoiceBody,
  ModifyInvoiceBody,
  TriggeredWebhook,
  TriggerWebhookQuery,
  UpdateInvoiceBody,
  VoidInvoiceBody,
} from '../../../schemas/invoice-requests.ts';
import {
  ComputedInvoiceAnswer,
  Invoice,
  InvoiceQuery,
  InvoiceSearch,
  TAX_RATES_EXPAND,
  LineExplanation,
  UsageCheck,
  type InvoiceRecord,
} from '../../../schemas/invoice.ts';
import { id, IdParams, Message, text } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { CheckoutSession } from '../../../schemas/checkout.ts';
import type { BillingDeps } from '../../deps.ts';
import { CHECKOUT_SOURCE, isGated } from '../../../domain/invoicing/gated-invoice.ts';
import type { Caller } from '../../conventions/record.ts';
import { findCheckoutOfInvoice } from '../records/checkout-repository.ts';
import { oncePerBodyKey } from '../../conventions/body-key.ts';
import { route } from '../../conventions/route.ts';
import { invoiceAnswers, type InvoiceEmbeds } from './answers.ts';
import { checkUsage } from './check-usage.ts';
import { createPeriodInvoice } from './create-invoice.ts';
import { createOneOffInvoice, previewOneOffInvoice } from './create-one-off.ts';
import { explainLine, explainLineAsText } from './explain-line.ts';
import { listInvoices } from './list-invoices.ts';
import { modifyInvoice } from './modify-invoice.ts';
import { recalculateDraft, recalculateInvoice } from './recalculate.ts';
import { computeInvoice, finalizeInvoice } from './recompute.ts';
import { getInvoice, getStoredInvoice } from '../records/invoice-repository.ts';
import { triggerNotification } from './trigger-notification.ts';
import { updateInvoice } from './update-invoice.ts';
import { withUsageShares } from './usage-shares.ts';
import { voidInvoice } from './void-invoice.ts';

const LineParams = z.object({ id, line_id: id });

/** With all records that an answer to a command embeds. */
const WHOLE = { line_items: true, customer: true, subscription: true } as const;
/** `finalize=false` leaves the draft. */
const RecalculateQuery = z.object({ finalize: z.enum(['true', 'false']).optional() });

const answered = async (
  { pool }: Pick<BillingDeps, 'pool'>,
  scope: Parameters<typeof getInvoice>[1],
  invoiceId: string,
  embed: InvoiceEmbeds,
): Promise<Invoice> => {
  const [answer] = await invoiceAnswers(
    pool,
    scope,
    [await getInvoice(pool, scope, invoiceId)],
    embed,
  );
  return answer!;
};

/** The new invoice, with the session that pays the draft before it is issued. */
const createdAnswer = async (
  deps: BillingDeps,
  caller: Caller,
  created: InvoiceRecord,
): Promise<Invoice> => {
  const session = isGated(created)
    ? await findCheckoutOfInvoice(deps.pool, caller.scope, created.id)
    : null;
  const offered = session && (await deps.checkoutGates.offer(deps, caller, session.id));
  // Read afterwards: the charge of a saved method issues the invoice.
  const embed = { line_items: true, customer: true };
  const invoice = await answered(deps, caller.scope, created.id, embed);
  return offered === null ? invoice : { ...invoice, checkout_session: offered };
};

/** The session that gates the invoice or has decided over it; null for other invoices. */
async function sessionOf(
  deps: BillingDeps,
  scope: Scope,
  invoice: Invoice,
): Promise<CheckoutSession | null> {
  if (invoice.source_type !== CHECKOUT_SOURCE) return null;
  const session = await findCheckoutOfInvoice(deps.pool, scope, invoice.id);
  return session === null ? null : await deps.checkoutGates.show(deps, scope, session);
}

export const invoiceRoutes = [
  route({
    method: 'POST',
    path: '/invoices',
    summary: 'Create a one-off invoice, or the draft of a billing period',
    permission: 'invoice:write',
    ownsTransactions: true,
    body: CreateInvoiceBody,
    status: 201,
    answer: Invoice,
    handler: (call) =>
      oncePerBodyKey(call.deps, call, 'invoice', call.body, async (deps) => {
        const create =
          call.body.invoice_type === 'SUBSCRIPTION' ? createPeriodInvoice : createOneOffInvoice;
        return await createdAnswer(deps, call, await create(deps, call, call.body));
      }),
  }),
  route({
    method: 'POST',
    path: '/invoices/one-off/preview',
    summary: 'Preview a one-off invoice',
    permission: 'invoice:read',
    ownsTransactions: true,
    body: CreateInvoiceBody,
    status: 200,
    answer: Invoice,
    handler: (call) => previewOneOffInvoice(call.deps, call, call.body),
  }),
  route({
    method: 'GET',
    path: '/invoices',
    summary: 'List invoices',
    permission: 'invoice:read',
    query: InvoiceSearch.query,
    status: 200,
    answer: pageOf(Invoice),
    handler: ({ deps, scope, query }) => listInvoices(deps, scope, query),
  }),
  route({
    method: 'POST',
    path: '/invoices/search',
    summary: 'Search invoices',
    permission: 'invoice:read',
    body: InvoiceSearch.body,
    status: 200,
    answer: pageOf(Invoice),
    handler: ({ deps, scope, body }) => listInvoices(deps, scope, body),
  }),
  route({
    method: 'GET',
    path: '/invoices/{id}',
    summary: 'Get an invoice',
    permission: 'invoice:read',
    params: IdParams,
    query: InvoiceQuery,
    status: 200,
    answer: Invoice,
    async handler({ deps, scope, params, query }) {
      const record = await getStoredInvoice(deps.pool, scope, params.id);
      const embed = { ...WHOLE, tax_rates: query.search.expand.has(TAX_RATES_EXPAND) };
      const [answer] = await invoiceAnswers(deps.pool, scope, [record], embed);
      const invoice = await withUsageShares(deps, scope, answer!, {
        by_source: query.expand_by_source === 'true',
        group_by: [...new Set(query.group_by?.split(',') ?? [])],
      });
      return { ...invoice, checkout_session: await sessionOf(deps, scope, invoice) };
    },
  }),
  route({
    method: 'PUT',
    path: '/invoices/{id}',
    summary: 'Update metadata, due date or PDF address, or recompute the coupons of a draft',
    permission: 'invoice:write',
    params: IdParams,
    body: UpdateInvoiceBody,
    status: 200,
    answer: Invoice,
    handler: async (call) => {
      await updateInvoice(call.deps, call, call.params.id, call.body);
      return await answered(call.deps, call.scope, call.params.id, WHOLE);
    },
  }),
  route({
    method: 'POST',
    path: '/invoices/{id}/compute',
    summary: 'Compute a draft invoice again',
    permission: 'invoice:write',
    ownsTransactions: true,
    params: IdParams,
    /** Older clients request a synchronous answer; every answer is synchronous. */
    query: z.object({ sync: text().optional() }),
    status: 200,
    answer: ComputedInvoiceAnswer,
    handler: async (call) => {
      const { id: invoiceId, invoice_status } = await computeInvoice(
        call.deps,
        call,
        call.params.id,
      );
      const invoice = await answered(call.deps, call.scope, invoiceId, WHOLE);
      return { invoice, skipped: invoice_status === 'SKIPPED' };
    },
  }),
  route({
    method: 'POST',
    path: '/invoices/{id}/modify/execute',
    summary: 'Add, update or remove rows; a finalized invoice is replaced by a draft',
    permission: 'invoice:write',
    params: IdParams,
    body: ModifyInvoiceBody,
    status: 200,
    answer: Invoice,
    handler: async (call) => {
      const edited = await modifyInvoice(call.deps, call, call.params.id, call.body);
      return await answered(call.deps, call.scope, edited, WHOLE);
    },
  }),
  route({
    method: 'POST',
    path: '/invoices/{id}/recalculate',
    summary: 'Void a finalized invoice and compute the draft that replaces it',
    permission: 'invoice:write',
    ownsTransactions: true,
    params: IdParams,
    status: 200,
    answer: Invoice,
    handler: async (call) => {
      const { id: draft } = await recalculateInvoice(call.deps, call, call.params.id);
      return await answered(call.deps, call.scope, draft, WHOLE);
    },
  }),
  route({
    method: 'POST',
    path: '/invoices/{id}/recalculate-v2',
    summary: 'Compute a draft again and finalize it',
    permission: 'invoice:write',
    ownsTransactions: true,
    params: IdParams,
    query: RecalculateQuery,
    status: 200,
    answer: Invoice,
    handler: async (call) => {
      const finalize = call.query.finalize !== 'false';
      await recalculateDraft(call.deps, call, call.params.id, { finalize });
      return await answered(call.deps, call.scope, call.params.id, WHOLE);
    },
  }),
  route({
    method: 'POST',
    path: '/invoices/{id}/finalize',
    summary: 'Finalize a draft invoice',
    permission: 'invoice:write',
    ownsTransactions: true,
    params: IdParams,
    status: 200,
    answer: Message,
    handler: async (call) => {
      const { invoice_status } = await finalizeInvoice(call.deps, call, call.params.id);
      const isSkipped = invoice_status === 'SKIPPED';
      return {
        message: isSkipped
          ? 'nothing is due: the invoice is skipped'
          : 'invoice finalized successfully',
      };
    },
  }),
  route({
    method: 'POST',
    path: '/invoices/{id}/void',
    summary: 'Void an invoice',
    permission: 'invoice:write',
    ownsTransactions: true,
    params: IdParams,
    body: VoidInvoiceBody.optional(),
    status: 200,
    answer: Message,
    handler: async (call) => {
      await voidInvoice(call.deps, call, call.params.id, call.body ?? {});
      return { message: 'invoice voided successfully' };
    },
  }),
  route({
    method: 'POST',
    path: '/invoices/{id}/comms/trigger',
    summary: 'Send the notification that requests a message to the customer',
    permission: 'invoice:write',
    params: IdParams,
    status: 200,
    answer: Message,
    handler: async ({ deps, params, ...call }) => {
      await triggerNotification(deps, call, params.id, 'invoice.communication.triggered');
      return { message: 'communication triggered successfully' };
    },
  }),
  route({
    method: 'POST',
    path: '/invoices/{id}/webhook/trigger',
    summary: 'Send a notification of the invoice again',
    permission: 'invoice:write',
    params: IdParams,
    query: TriggerWebhookQuery,
    status: 200,
    answer: TriggeredWebhook,
    handler: async ({ deps, params, query: { event_name }, ...call }) => {
      await triggerNotification(deps, call, params.id, event_name);
      return { message: 'webhook triggered successfully', event_name };
    },
  }),
  route({
    method: 'GET',
    path: '/invoices/{id}/usage-check',
    summary: 'Compare the usage behind an invoice, as billed and now',
    permission: 'invoice:read',
    params: IdParams,
    status: 200,
    answer: UsageCheck,
    handler: ({ deps, scope, params }) => checkUsage(deps, scope, params.id),
  }),
  route({
    method: 'GET',
    path: '/invoices/{id}/lines/{line_id}/explanation',
    summary: 'Explain an invoice row',
    permission: 'invoice:read',
    params: LineParams,
    status: 200,
    answer: LineExplanation,
    handler: ({ deps, scope, params }) => explainLine(deps.pool, scope, params.id, params.line_id),
  }),
  route({
    method: 'GET',
    path: '/invoices/{id}/lines/{line_id}/explanation.txt',
    summary: 'Explain an invoice row as text',
    permission: 'invoice:read',
    params: LineParams,
    status: 200,
    answer: null,
    contentType: 'text/plain; charset=utf-8',
    handler: ({ deps, scope, params }) =>
      explainLineAsText(deps.pool, scope, params.id, params.line_id) as never,
  }),
];

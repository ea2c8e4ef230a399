import * as z from 'zod';
import { id, IdParams, text } from '../../../schemas/primitives.ts';
import type { ApiDeps } from '../../deps.ts';
import { route } from '../../conventions/route.ts';
import { getShownInvoice, portalCustomer } from '../portal/own-records.ts';
import { getInvoice } from '../records/invoice-repository.ts';
import { documentLink, openDocumentLink } from './document-link.ts';
import { printInvoice } from './print-invoice.ts';

const truth = z
  .enum(['true', 'false'])
  .optional()
  .transform((value) => value === 'true');

const InvoicePdfQuery = z.object({
  /** Answers `{"presigned_url"}`, an address that is valid for one hour, instead of the file. */
  url: truth,
  /** The explanation of each row on further pages. */
  annex: truth,
  /** Accepted for clients that send it: every file is made when it is requested. */
  force_generate: truth,
});

const DocumentParams = z.object({ tenant_id: id, token: text(2000) });

const PresignedUrl = z.object({ presigned_url: z.string() }).meta({ id: 'PresignedUrl' });

/** An answer of a file route: bytes, or JSON with its own content type. */
const sent = (body: Uint8Array | object): never => body as never;

interface FileCall {
  readonly deps: ApiDeps;
  setHeader(name: string, value: string): void;
}

/** Shown in the browser under the name; never cached by a shared cache. */
function asFile({ setHeader }: FileCall, name: string | null, bytes: Uint8Array): never {
  const safe = (name ?? 'draft').replace(/[^\w.-]/g, '_');
  setHeader('content-disposition', `inline; filename="invoice-${safe}.pdf"`);
  setHeader('cache-control', 'private, no-store');
  return sent(Buffer.from(bytes));
}

export const invoicePdfRoutes = [
  route({
    method: 'GET',
    path: '/invoices/{id}/pdf',
    summary: 'Get the invoice as a PDF file',
    permission: 'invoice:read',
    params: IdParams,
    query: InvoicePdfQuery,
    status: 200,
    answer: null,
    contentType: 'application/pdf',
    async handler(call) {
      const { deps, scope, query } = call;
      const invoice = await getInvoice(deps.pool, scope, call.params.id);
      const hasAnnex = query.annex;
      if (query.url) {
        call.setHeader('content-type', 'application/json; charset=utf-8');
        return sent({
          presigned_url: documentLink(deps, { scope, invoice_id: invoice.id, hasAnnex }),
        });
      }
      return asFile(
        call,
        invoice.invoice_number,
        await printInvoice(deps, scope, invoice, { hasAnnex }),
      );
    },
  }),
  route({
    method: 'GET',
    path: '/documents/{tenant_id}/{token}',
    summary: 'Get the PDF file of a link',
    permission: 'public',
    params: DocumentParams,
    status: 200,
    answer: null,
    contentType: 'application/pdf',
    async handler(call) {
      const { deps, params } = call;
      const { scope, invoice_id, hasAnnex } = openDocumentLink(
        deps,
        params.tenant_id,
        params.token,
      );
      const invoice = await getInvoice(deps.pool, scope, invoice_id);
      return asFile(
        call,
        invoice.invoice_number,
        await printInvoice(deps, scope, invoice, { hasAnnex }),
      );
    },
  }),
  route({
    method: 'GET',
    path: '/customer/portal/invoices/{id}/pdf',
    summary: 'Get a link to the PDF file of the customer’s invoice, valid for one hour',
    permission: 'portal',
    params: IdParams,
    status: 200,
    answer: PresignedUrl,
    async handler(call) {
      const customer = portalCustomer(call);
      const { id: invoice_id } = await getShownInvoice(call.deps, customer, call.params.id);
      const linked = { scope: customer.scope, invoice_id, hasAnnex: false };
      return { presigned_url: documentLink(call.deps, linked) };
    },
  }),
];

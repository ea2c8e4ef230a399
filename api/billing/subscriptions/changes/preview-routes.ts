import { PreviewInvoiceBody } from '../../../../schemas/invoice-requests.ts';
import { Invoice } from '../../../../schemas/invoice.ts';
import { route } from '../../../conventions/route.ts';
import { previewInvoice } from './preview-invoice.ts';

export const previewRoutes = [
  route({
    method: 'POST',
    path: '/invoices/preview',
    summary: 'Preview the invoice of a subscription',
    permission: 'invoice:read',
    ownsTransactions: true,
    body: PreviewInvoiceBody,
    status: 200,
    answer: Invoice,
    handler: (call) => previewInvoice(call.deps, call, call.body),
  }),
];

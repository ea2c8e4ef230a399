import { PreviewInvoiceBody } from '../../../../schemas/invoice-requests.ts';
import { Invoice } from '../../../../schemas/invoice.ts';
import { IdParams } from '../../../../schemas/primitives.ts';
import { SubscriptionPreview } from '../../../../schemas/subscription-preview.ts';
import {
  ActivateSubscriptionBody,
  CreateSubscriptionBody,
} from '../../../../schemas/subscription-requests.ts';
import { route } from '../../../conventions/route.ts';
import { previewInvoice } from './preview-invoice.ts';
import { previewActivation, previewCreation } from './preview-start.ts';

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
  route({
    method: 'POST',
    path: '/subscriptions/preview',
    summary: 'Preview the first invoices of a new subscription',
    permission: 'subscription:read',
    ownsTransactions: true,
    body: CreateSubscriptionBody,
    status: 200,
    answer: SubscriptionPreview,
    handler: (call) => previewCreation(call.deps, call, call.body),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/{id}/activate/preview',
    summary: 'Preview the first invoices of a draft subscription',
    permission: 'subscription:read',
    ownsTransactions: true,
    params: IdParams,
    body: ActivateSubscriptionBody,
    status: 200,
    answer: SubscriptionPreview,
    handler: (call) => previewActivation(call.deps, call, call.params.id, call.body),
  }),
];

import { InvoiceLedger } from '../../../schemas/invoice-ledger.ts';
import { Invoice } from '../../../schemas/invoice.ts';
import { UpdatePaymentStatusBody } from '../../../schemas/payment.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { runCommand } from '../../conventions/command.ts';
import { route } from '../../conventions/route.ts';
import { attemptPayment } from '../payments/attempt-payment.ts';
import { syncPayment } from '../payments/dispatch-payment.ts';
import { reportInvoicePayment } from '../computing/report-payment.ts';
import { invoiceLedger } from './invoice-ledger.ts';
import { invoiceAnswers } from './answers.ts';

export const invoicePaymentRoutes = [
  route({
    method: 'GET',
    path: '/invoices/{id}/ledger',
    summary: 'Get the charges, payments, credits and refunds of an invoice',
    permission: 'invoice:read',
    params: IdParams,
    status: 200,
    answer: InvoiceLedger,
    handler: ({ deps, scope, params }) => invoiceLedger(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/invoices/{id}/payment',
    summary: 'Set the payment status of an invoice manually',
    permission: 'invoice:write',
    params: IdParams,
    body: UpdatePaymentStatusBody,
    status: 200,
    answer: Invoice,
    async handler(call) {
      const invoice = await call.deps.pool.begin((tx) =>
        reportInvoicePayment(tx, call.deps, call, call.params.id, call.body),
      );
      const embed = { line_items: true, customer: true, subscription: true };
      const [answer] = await invoiceAnswers(call.deps.pool, call.scope, [invoice], embed);
      return answer!;
    },
  }),
  route({
    method: 'POST',
    path: '/invoices/{id}/payment/attempt',
    summary: 'Try to collect the open amount of an invoice',
    permission: 'invoice:write',
    ownsTransactions: true,
    params: IdParams,
    status: 200,
    answer: Message,
    async handler(call) {
      const { payment_id } = await runCommand(call.deps, 'invoice', () =>
        Promise.resolve(async (tx) => {
          const payment = await attemptPayment(tx, call.deps, call, call.params.id);
          return { payment_id: payment?.id ?? null };
        }),
      );
      if (payment_id !== null) await syncPayment(call.deps, call, payment_id);
      return { message: 'payment attempted' };
    },
  }),
];

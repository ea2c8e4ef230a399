import type { Walker } from './client.ts';

/** One-off invoices in every state, an invoice of a subscription, payments and credit notes of them. */
export async function walkInvoices(
  { walk }: Walker,
  customerId: string,
  subscriptionId: string,
): Promise<void> {
  const invoiceOf = (amount: string) =>
    walk('POST /invoices', (sdk) =>
      sdk.invoices.createInvoice({
        customerId, currency: 'usd', invoiceType: 'ONE_OFF', billingReason: 'MANUAL',
        subtotal: amount, total: amount, amountDue: amount,
        lineItems: [{ displayName: 'Work', quantity: '1', amount }],
      } as never),
    ); // prettier-ignore
  const issued = await invoiceOf('20');
  await walk('PUT /invoices/{id}/payment', (sdk) =>
    sdk.invoices.updateInvoicePaymentStatus(issued.id!, {
      paymentStatus: 'SUCCEEDED',
      amount: '20',
    } as never),
  );
  await walk('POST /invoices/{id}/comms/trigger', (sdk) =>
    sdk.invoices.triggerInvoiceCommsWebhook(issued.id!),
  );
  await walk('GET /invoices/{id}', (sdk) => sdk.invoices.getInvoice(issued.id!, true));
  const pdf = await walk('GET /invoices/{id}/pdf', (sdk) => sdk.invoices.getInvoicePdf(issued.id!));
  expect(
    Buffer.from(await new Response(pdf).arrayBuffer())
      .subarray(0, 5)
      .toString(),
  ).toBe('%PDF-');

  const voided = await invoiceOf('10');
  await walk('POST /invoices/{id}/void', (sdk) => sdk.invoices.voidInvoice(voided.id!));
  await walk('POST /invoices/preview', (sdk) =>
    sdk.invoices.getInvoicePreview({ subscriptionId } as never),
  );
  const found = await walk('POST /invoices/search', (sdk) =>
    sdk.invoices.queryInvoice({ customerId, limit: 50 } as never),
  );
  const opening = found.items!.find((invoice) => invoice.subscriptionId === subscriptionId)!;
  await walk('GET /invoices/{id}', (sdk) =>
    sdk.invoices.getInvoice(opening.id!, false, ['source']),
  );
  await walk('POST /invoices/{id}/payment/attempt', (sdk) =>
    sdk.invoices.attemptInvoicePayment(opening.id!),
  );
  const draft = await walk('POST /invoices/{id}/recalculate', (sdk) =>
    sdk.invoices.recalculateInvoice(opening.id!, false),
  );
  await walk('PUT /invoices/{id}', (sdk) =>
    sdk.invoices.updateInvoice(draft.id!, { metadata: { a: 'b' } } as never),
  );
  await walk('POST /invoices/{id}/finalize', (sdk) => sdk.invoices.finalizeInvoice(draft.id!));
  await walk('GET /customers/{id}/invoices/summary', (sdk) =>
    sdk.invoices.getCustomerInvoiceSummary(customerId),
  );
  await walkPayments({ walk } as Walker, (await invoiceOf('40')).id!);
  const paid = await invoiceOf('40');
  await pay(walk, paid.id!, '40');
  await walkCreditNotes(walk, paid.id!, (await invoiceOf('15')).id!);
}

const pay = (walk: Walker['walk'], invoiceId: string, amount: string, processPayment = true) =>
  walk('POST /payments', (sdk) =>
    sdk.payments.createPayment({
      destinationType: 'INVOICE', destinationId: invoiceId, paymentMethodType: 'OFFLINE', amount,
      currency: 'usd', processPayment, metadata: { a: 'b' },
    } as never),
  ); // prettier-ignore

async function walkPayments({ walk }: Walker, invoiceId: string): Promise<void> {
  const part = await pay(walk, invoiceId, '10', false);
  await walk('GET /payments/{id}', (sdk) => sdk.payments.getPayment(part.id!));
  await walk('PUT /payments/{id}', (sdk) =>
    sdk.payments.updatePayment(part.id!, { metadata: { c: 'd' } } as never),
  );
  await walk('POST /payments/{id}/process', (sdk) => sdk.payments.processPayment(part.id!));
  await walk('GET /payments', (sdk) => sdk.payments.listPayments({ limit: 10 } as never));
  const dropped = await pay(walk, invoiceId, '5', false);
  await walk('DELETE /payments/{id}', (sdk) => sdk.payments.deletePayment(dropped.id!));
}

/** A refund of a paid invoice, which is finalized, and an adjustment of an open one, which is voided. */
async function walkCreditNotes(
  walk: Walker['walk'],
  paidId: string,
  openId: string,
): Promise<void> {
  const noteOf = async (invoiceId: string) => {
    const invoice = await walk('GET /invoices/{id}', (sdk) => sdk.invoices.getInvoice(invoiceId));
    return await walk('POST /creditnotes', (sdk) =>
      sdk.creditNotes.createCreditNote({
        invoiceId, reason: 'DUPLICATE', memo: 'Twice', processCreditNote: false,
        lineItems: [{ invoiceLineItemId: invoice.lineItems![0]!.id!, amount: '5' }],
      } as never),
    ); // prettier-ignore
  };
  const refund = await noteOf(paidId);
  await walk('POST /creditnotes/{id}/finalize', (sdk) =>
    sdk.creditNotes.processCreditNote(refund.id!),
  );
  await walk('GET /creditnotes/{id}', (sdk) => sdk.creditNotes.getCreditNote(refund.id!));
  const adjustment = await noteOf(openId);
  await walk('POST /creditnotes/{id}/void', (sdk) =>
    sdk.creditNotes.voidCreditNote(adjustment.id!),
  );
}

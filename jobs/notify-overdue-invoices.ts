import type { BillingDeps } from '../api/deps.ts';
import { invoiceEvent } from '../api/billing/computing/write-invoices.ts';
import { linesOfInvoices } from '../api/billing/records/invoice-line-repository.ts';
import {
  noteOverdueInvoices,
  overdueInvoices,
  overdueTimes,
  scopesWithOverdueInvoices,
} from '../api/billing/records/due-invoice-repository.ts';
import { findSubscriptions } from '../api/billing/records/subscription-repository.ts';
import { findCustomers } from '../api/customers/customers/repository.ts';
import { groupBy } from '../domain/group-by.ts';
import type { Scope, Transaction } from '../postgres/client.ts';
import { writeOutboxEvents } from '../postgres/tables/outbox.ts';
import type { InvoiceRecord } from '../schemas/invoice.ts';
import type { Job } from './job.ts';
import { noticePages } from './notice-pages.ts';
import { takeTurns } from './scope-turns.ts';

/**
 * Sends `invoice.payment.overdue` for finalized invoices whose due date has passed with an amount open, once per
 * due date (money 17.3). Nothing else about the invoice changes. An invoice that fails does not stop the others.
 */
export const notifyOverdueInvoices: Job<BillingDeps> = {
  name: 'notify-overdue-invoices',
  cron: '*/15 * * * *',
  ofCustomers: { dueTimes: overdueTimes },
  async run(deps, run) {
    const totals = { notified: 0, failed: 0 };
    const scopes = await scopesWithOverdueInvoices(deps.pool, run);
    await takeTurns(run, scopes, (scope) =>
      noticePages(deps, run, scope, totals, {
        name: 'invoice_id',
        find: (after, limit) => overdueInvoices(deps.pool, scope, { due: run, after, limit }),
        async send(tx, ids) {
          const invoices = await noteOverdueInvoices(tx, scope, run, ids);
          await notify(tx, scope, invoices);
          return invoices.length;
        },
      }),
    );
    return totals;
  },
};

async function notify(
  tx: Transaction,
  scope: Scope,
  invoices: readonly InvoiceRecord[],
): Promise<void> {
  const ids = invoices.map(({ id }) => id);
  const linesOf = groupBy(await linesOfInvoices(tx, scope, ids), ({ invoice_id }) => invoice_id);
  const customers = await findCustomers(tx, scope, [
    ...new Set(invoices.map(({ customer_id }) => customer_id)),
  ]);
  const subscriptions = await findSubscriptions(tx, scope, [
    ...new Set(invoices.flatMap(({ subscription_id }) => subscription_id ?? [])),
  ]);
  await writeOutboxEvents(
    tx,
    invoices.map((invoice) =>
      invoiceEvent('invoice.payment.overdue', scope, {
        invoice,
        lines: linesOf.get(invoice.id) ?? [],
        customer: customers.find(({ id }) => id === invoice.customer_id) ?? null,
        subscription: subscriptions.find(({ id }) => id === invoice.subscription_id) ?? null,
      }),
    ),
  );
}

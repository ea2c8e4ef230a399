import type { Desk } from './desk.ts';
import { discount } from './discounts.ts';
import { setupRow } from './ledger.ts';
import { isExempt } from './records.ts';
import { followSession, gated } from './sessions.ts';

/** Sells a running subscription an addon whose fee is due once, when its session is paid (money 11.6). */
export async function buyAddon(desk: Desk): Promise<void> {
  const { business, customer, ledger, random } = desk;
  const running = customer.subscriptions.find(({ end }) => end === null);
  if (running === undefined) return;
  const { id, fee } = business.addon;
  const at = desk.now;
  const row = setupRow(running, at, fee);
  const { nets, used } = discount([row], ledger.inForce(running, null));
  const net = nets[0]!;
  // Without anything due there is no session.
  if (net === 0) return;
  const body = await desk.command('session of an addon', '/checkout/sessions', {
    customer_external_id: customer.external_id,
    action: 'add_addon',
    payment_provider: 'test',
    configuration: {
      add_addon_params: {
        subscription_id: running.id,
        addons: [{ addon_id: id, proration_behavior: 'create_prorations' }],
      },
    },
  });
  if (body === null) return;
  const invoice = ledger.invoiceOf(body.checkout_invoice_id, customer);
  const taxes = isExempt(customer) ? [] : customer.taxes;
  ledger.use(used, invoice);
  desk.sessions.push(
    gated(desk, body, invoice, { usage: 0, net, taxes, off: fee - net }, () => {
      invoice.setups = [row];
      ledger.setups.push({ subscription: running, at, fee, invoice });
    }),
  );
  if (random.chance(0.7)) await followSession(desk);
}

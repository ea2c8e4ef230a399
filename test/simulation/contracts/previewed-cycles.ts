import { invoicesOf } from './found-invoices.ts';
import { iso } from './naive-calendar.ts';
import { GRACE_MS } from './naive-contract.ts';
import { factsIn } from './preview-facts.ts';
import type { Previewed } from './previewed-changes.ts';
import { ok } from './sell-offer.ts';

/** The running period is previewed a millisecond before its end, billed at it, and final after its grace time. */
export async function closeAsPreviewed(
  { world, note, done }: Previewed,
  read: () => Promise<any>,
): Promise<void> {
  const { clock } = world.api;
  const end = endOf(await read());
  // It is paused.
  if (end <= clock.now()) return;
  if (clock.now() < end - 1) {
    clock.set(iso(end - 1));
    await world.close();
    // Drafts of earlier periods take their credits first.
    await world.finalize();
  }
  const { id, subscription_status: status, ...subscription } = await read();
  const { current_period_end } = subscription;
  if (endOf(subscription) !== end) return;
  const isRunning = status === 'active' || status === 'trialing';
  const previewed = isRunning
    ? await ok(world, '/invoices/preview', { subscription_id: id })
    : null;
  const before = new Set((await invoicesOf(world, { id })).map((one) => one.id));
  clock.set(iso(end));
  await world.close();
  const made = (await invoicesOf(world, { id })).filter((one) => !before.has(one.id));
  done.push(`${iso(end)} closed`);
  clock.set(iso(end + GRACE_MS));
  await world.finalize();
  if (previewed === null || made.length !== 1) {
    if (previewed !== null && previewed.line_items.length > 0)
      note('invoices at the end of the period', ['1'], [String(made.length)]);
    return;
  }
  const [draft, shown] = [made[0], previewed].map((one) => factsIn(one, 'draft').filter(isOfDraft));
  note(`draft of ${current_period_end}`, draft!, shown!);
  const { body: final } = await world.api.get(`/v1/invoices/${made[0].id}`);
  // What a cancellation returns comes into the wallet with the end, so it pays the invoice, but not its preview.
  const isKnown = end < Date.parse(current_period_end) ? isOfDraft : () => true;
  const [billed, said] = [final, previewed].map((one) => factsIn(one, 'final').filter(isKnown));
  note(`final of ${current_period_end}`, billed!, said!);
}

/** When the running period ends, or the contract in it. */
export const endOf = ({ current_period_end, cancel_at }: any): number =>
  Date.parse(cancel_at !== null && cancel_at < current_period_end ? cancel_at : current_period_end);

/** A draft uses no credits. */
export const isOfDraft = (fact: string): boolean =>
  !/prepaid_credits_applied|^(draft|final)\.(total|amount_due) /.test(fact);

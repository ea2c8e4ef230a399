import type { Random } from '../../support/random.ts';
import { changeAutoTopUp } from './auto-top-ups.ts';
import { changeCoupons } from './coupons.ts';
import { debit, topUp } from './credits.ts';
import { Desk, type Business } from './desk.ts';
import { edit, note, oneOff, recalculate, voidInvoice, voidNote } from './invoices.ts';
import type { Customer } from './records.ts';
import { freeze, terminateWallet } from './wallet-life.ts';
import {
  deletePayment,
  dispute,
  late,
  pay,
  refund,
  reportCharges,
  retryRefund,
} from './payments.ts';
import { changePlan, changeQuantity } from './changes.ts';
import { checkout, followSession, payBySession } from './sessions.ts';
import { buyAddon } from './addons.ts';
import { leave } from './leaving.ts';
import { lateUsage, settleLateUsage } from './late-usage.ts';
import { cancel, changeTaxes, subscribe } from './subscriptions.ts';

/**
 * Commands about one customer, one after another. They are drawn from a stream of their own, so that they are the same
 * whatever happens to other customers meanwhile.
 */
export class Dealings {
  readonly customer: Customer;
  readonly random: Random;
  readonly #desk: Desk;

  /** `name` tells its commands from those about other customers. */
  constructor(business: Business, customer: Customer, random: Random, name: string) {
    this.customer = customer;
    this.random = random;
    this.#desk = new Desk(business, customer, random, name);
  }

  get isCutOff(): boolean {
    return this.#desk.isCutOff;
  }

  /** Draws whether the commands until the next draw are cut off. */
  drawCut(share: number): void {
    this.#desk.isCutOff = this.random.chance(share);
  }

  /** What waited for the bank has ended there. */
  leaveBank(): void {
    this.#desk.pending.length = 0;
    this.#desk.sessions.length = 0;
  }

  async subscribe(): Promise<void> {
    await subscribe(this.#desk);
  }

  /** Most charges that the gateway took a while for have their outcome. */
  async report(): Promise<void> {
    if (!this.customer.isGone && this.random.chance(0.9)) await reportCharges(this.#desk);
  }

  /** One random command of a customer or of a person of the company. */
  async act(): Promise<void> {
    const desk = this.#desk;
    if (this.customer.isGone) return;
    desk.ledger.expire(this.customer, desk.now);
    const invoices = (await desk.issued()).filter(
      ({ id }) => desk.ledger.invoices.get(id)?.total != null,
    );
    const open = invoices.filter(({ amount_remaining }) => amount_remaining !== '0');
    const settled = invoices.filter(({ amount_paid }) => amount_paid !== '0');
    const billed = invoices.filter(({ invoice_type }) => invoice_type === 'SUBSCRIPTION');
    const draw = this.random.below(COMMANDS.reduce((sum, [weight]) => sum + weight, 0));
    let before = 0;
    for (const [weight, act, among] of COMMANDS) {
      before += weight;
      if (draw >= before) continue;
      const row = among && this.random.pick({ open, settled, billed, invoices }[among]);
      if (among === undefined || row !== undefined) await act(desk, row);
      else desk.business.count('nothing');
      return;
    }
  }
}

type Command = (desk: Desk, row: any) => Promise<void>;
type Among = 'open' | 'settled' | 'billed' | 'invoices';

/** Weights of the commands; those about an invoice take one of the customer's. */
const COMMANDS: readonly (readonly [number, Command, Among?])[] = [
  [30, pay, 'open'],
  [10, topUp],
  [5, debit],
  [6, refund, 'settled'],
  [2, retryRefund],
  [14, note, 'invoices'],
  [6, voidInvoice, 'invoices'],
  [6, edit, 'invoices'],
  [6, oneOff],
  [4, dispute, 'settled'],
  [6, cancel],
  [3, changeTaxes],
  [5, lateUsage],
  [6, recalculate, 'billed'],
  [4, late],
  [9, checkout],
  [3, followSession],
  [6, settleLateUsage, 'billed'],
  [3, voidNote],
  [6, payBySession, 'open'],
  [3, deletePayment],
  [3, terminateWallet],
  [2, freeze],
  [8, changePlan],
  [8, changeCoupons],
  [4, changeAutoTopUp],
  [6, changeQuantity],
  [6, buyAddon],
  [3, leave],
];

import { Decimal } from '../../../domain/money.ts';
import type { Bill, Block, Contract, Draft, Reason, Row, Use } from './contract.ts';
import { Fees, isAt } from './naive-fees.ts';
import { grantedBlocks } from './naive-grants.ts';
import type { Lived } from './naive-life.ts';
import { Lines } from './naive-lines.ts';
import { positive, total, zero } from './naive-rating.ts';
import { billing, settle, type Settlement } from './naive-settlement.ts';
import { Usage } from './naive-usage.ts';

/** Drafts of usage are final so long after their period. */
export const GRACE_MS = 7_200_000;

/**
 * A second, naive account of one contract: what each of its invoices says, row by row. It shares decimals with the
 * product and nothing else: its calendar is luxon's, and it goes through all usage for every sum.
 */
export class Account {
  readonly #sold: Contract;
  readonly #uses: readonly Use[];
  readonly #lines: Lines;
  readonly #fees: Fees;
  readonly #usage: Usage;
  readonly periods: readonly Lived[];

  /** When the contract is planned to end: known to the terms of its commitments. */
  readonly #planned: number;

  constructor(contract: Contract, uses: readonly Use[], planned = Infinity) {
    this.#planned = planned;
    this.#sold = contract;
    this.#uses = uses;
    this.#lines = new Lines(contract);
    this.#fees = new Fees(this.#lines);
    this.#usage = new Usage(this.#lines, uses, planned);
    this.periods = this.#lines.periods;
  }

  /** Every invoice, and what is left in the wallet. */
  settled(): Settlement {
    return settle(this.#lines.contract, this.periods, this.drafts(), (bills) =>
      this.credited(bills),
    );
  }

  /** What comes into the wallet, some of it because of what was billed. */
  credited(bills: readonly Bill[]): Block[] {
    const { contract } = this.#lines;
    const { addons, pauses } = contract;
    const until = this.periods.at(-1)!.end;
    return [
      ...grantedBlocks(contract, until, (at) => this.#asKnownAt(at).periods),
      ...pauses.flatMap((pause) => this.#asKnownAt(pause.start).#fees.paused(pause, bills)),
      ...addons.flatMap((addon) =>
        this.#asKnownAt(addon.detached?.at ?? 0).#fees.detachment(addon, bills),
      ),
      ...this.#quantityChanges().filter(isCredit).map(creditOf),
      ...this.#moves().blocks,
      ...this.#cancelled(bills),
    ];
  }

  /** In order of time. */
  drafts(): Draft[] {
    const bill = billing(this.#lines.contract, this.periods);
    const attachments = this.#lines.contract.addons
      .map((addon) => this.#asKnownAt(addon.attached).#fees.attachment(addon))
      .filter((draft) => draft !== null)
      // What costs nothing in the end makes no invoice.
      .filter((draft) => !bill(draft).rows.every(({ net }) => net.isZero()));
    const changes = this.#quantityChanges().filter((change) => !isCredit(change));
    const drafts = [...this.#cycles(), ...attachments, ...changes, ...this.#moves().drafts];
    return this.#untilCancelled(drafts).sort((left, right) => left.drafted - right.drafted);
  }

  #quantityChanges(): Draft[] {
    const { changes } = this.#lines.contract;
    if (changes.length === 0) return [];
    const cycles = this.#cycles();
    return changes
      .map((change) =>
        this.#fees.quantityChange(
          change,
          cycles.filter(({ drafted }) => drafted <= change.at),
        ),
      )
      .filter((draft) => draft !== null)
      .filter((draft) => !sumOf(draft).isZero());
  }

  /** What changes of the plan within a period charge and give back. */
  #moves(): { readonly drafts: Draft[]; readonly blocks: Block[] } {
    const { contract, life } = this.#lines;
    const [drafts, blocks, bills]: [Draft[], Block[], Bill[]] = [[], [], []];
    const bill = billing(contract, this.periods);
    if (contract.moves.length > 0) bills.push(...this.#cycles().map(bill));
    for (const { at, asked, restarts, prorated } of contract.moves) {
      if (at > asked || at < life.start) continue;
      const known = this.#asKnownAt(at);
      const isProrated = prorated ?? contract.prorated;
      const period = known.#lines.periodAt(at);
      const begun = restarts ? known.#fees.advanceRows(period, isProrated) : known.#fees.begun(at);
      const earlier = bills.filter(({ drafted }) => drafted <= at);
      const unserved = isProrated
        ? this.#asKnownAt(at - 1).#fees.unserved(at, earlier)
        : { rows: [], tax: zero };
      const draft = { reason: 'SUBSCRIPTION_UPDATE' as const, period, drafted: at, issued: at };
      const charges = bill({ ...draft, rows: isProrated || restarts ? begun : [] });
      bills.push(charges);
      const credit = total(unserved.rows.map(({ amount }) => new Decimal(amount))).neg();
      const net = total(charges.rows.map((row) => row.net)).minus(credit);
      if (net.gt(0)) drafts.push({ ...draft, rows: [...unserved.rows, ...charges.rows] });
      if (net.gte(0)) continue;
      // The exclusive tax of both goes with them.
      const tax = positive(
        unserved.tax.minus(charges.total).plus(charges.subtotal).minus(charges.discount),
      );
      const amount = this.#lines.round(tax.minus(net)).toFixed();
      blocks.push({ at, amount, priority: null, expiry: null });
    }
    return { drafts, blocks };
  }

  /** The opening, then the invoices of each period, each as far as the pauses were known when it was drafted. */
  #cycles(): Draft[] {
    const { periods: count, trial } = this.#lines.contract;
    const unpaused = this.#asKnownAt(this.#lines.life.start - 1);
    const [first] = unpaused.periods;
    const opening: Draft = {
      reason: trial > 0 ? 'SUBSCRIPTION_TRIAL_END' : 'SUBSCRIPTION_CREATE',
      ...{ period: first!, drafted: first!.start, issued: first!.start },
      rows: unpaused.#fees.advanceRows(first!),
    };
    const drafts = this.periods.slice(0, count).flatMap(({ closed: drafted }, index): Draft[] => {
      const known = this.#asKnownAt(drafted);
      const [period, next] = known.periods.slice(index, index + 2);
      const advances = next === undefined || next.restarts ? [] : known.#fees.advanceRows(next);
      if (period!.cutBy !== null) return [known.#closing(period!, 'PRORATION', drafted, [])];
      const cycle = known.#closing(period!, 'SUBSCRIPTION_CYCLE', drafted, advances);
      if (next?.restarts !== true) return [cycle];
      const { start } = next;
      const rows = known.#fees.advanceRows(next);
      const begun: Draft = {
        ...{ reason: 'SUBSCRIPTION_UPDATE', period: next, drafted: start, issued: start, rows },
      };
      return [cycle, begun];
    });
    return [opening, ...drafts];
  }

  /** Arrears and usage of a period, beside advances of the next one. */
  #closing(period: Lived, reason: Reason, drafted: number, advances: readonly Row[]): Draft {
    const usage = this.#usage.usageRows(period);
    return {
      ...{ reason, period, drafted },
      issued: Math.max(drafted, period.end + GRACE_MS),
      rows: [...advances, ...this.#fees.arrearRows(period), ...usage],
    };
  }

  /** The drafts before a cancellation, and the one that it makes. */
  #untilCancelled(drafts: readonly Draft[]): Draft[] {
    const { cancelled } = this.#sold;
    if (cancelled === null) return [...drafts];
    const { at, invoiced } = cancelled;
    const earlier = drafts.filter(({ drafted }) => drafted < at);
    if (at <= this.#lines.life.start || !invoiced) return earlier;
    const isWithin = this.#lines.periodAt(at - 1).end > at;
    const prorated = isWithin ? (cancelled.prorated ?? this.#sold.prorated) : this.#sold.prorated;
    const ended = new Account({ ...this.#sold, end: at, prorated, cancelled: null }, this.#uses);
    const drafted = Math.max(at, cancelled.asked);
    const reason = isWithin ? 'PRORATION' : 'SUBSCRIPTION_CYCLE';
    return [...earlier, ended.#closing(ended.#lines.periodAt(at - 1), reason, drafted, [])];
  }

  /** What a cancellation within a period gives back. */
  #cancelled(bills: readonly Bill[]): Block[] {
    const { cancelled } = this.#sold;
    if (cancelled === null || cancelled.at < this.#lines.life.start) return [];
    const { at, asked, prorated } = cancelled;
    if (this.#lines.findPeriodAt(at)?.start === at) return [];
    const unused = { start: at, end: Infinity };
    const fees = this.#lines.contract.fees.filter(({ during }) => isAt(during, at));
    return this.#fees.returned(fees, unused, Math.max(at, asked), prorated, bills);
  }

  /** The account without pauses, changes of the plan and cancellations of which an instant does not know. */
  #asKnownAt(instant: number): Account {
    const { pauses, moves, cancelled } = this.#sold;
    const begun = pauses.filter(({ start }) => start <= instant);
    const moved = moves.filter(({ at }) => at <= Math.max(instant, this.#lines.life.start));
    const isPlanned = cancelled !== null && cancelled.type !== 'immediate';
    const planned = isPlanned && cancelled.asked <= instant ? cancelled.at : Infinity;
    const knowsAll = begun.length === pauses.length && moved.length === moves.length;
    return knowsAll && planned === this.#planned
      ? this
      : new Account({ ...this.#sold, pauses: begun, moves: moved }, this.#uses, planned);
  }
}

const sumOf = ({ rows }: Draft): Decimal => total(rows.map(({ amount }) => new Decimal(amount)));

const isCredit = (draft: Draft): boolean => sumOf(draft).lt(0);

const creditOf = (draft: Draft): Block => ({
  ...{ at: draft.drafted, priority: null, expiry: null },
  amount: sumOf(draft).neg().toFixed(),
});
